"""Words about training runs. Data: `workload_id`, `name`, what `workloads.ended` says of the end, and last metrics."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import duration, sentences
from apps.notifications.words import work
from apps.notifications.words.base import Data, Speaker, Words, link, name_in
from apps.tracking.collecting.headline import headlines_of
from apps.workloads.choices import Reason
from apps.workloads.ended import advice_in, last_lines_in, private_in
from apps.workloads.models import Workload

LAST_METRICS = "last_metrics"
MOST_METRICS, LONGEST_METRIC = 3, 40


def _finished(data: Data) -> Words:
    title = _("%(name)s has finished") % {"name": name_in(data, "name")}
    text = work.spent(data) or _("It ran for %(time)s.") % {"time": duration(0)}
    return Words(title, text, Tone.RUN, "circle-check", action=_("See the result"), **link(data, _PAGE, "workload_id"))


def _failed(data: Data) -> Words:
    title = _("%(name)s has failed") % {"name": name_in(data, "name")}
    parts = [*_why(data), work.spent(data), _("Its page says why, whose fault it was and what to do.")]
    if (advice := advice_in(data)) is not None:
        parts = [_("%(sentence)s.") % {"sentence": advice.title}, advice.text, advice.verdict, work.spent(data)]
        parts += advice.fixes
    where = link(data, _PAGE, "workload_id")
    excerpt = last_lines_in(data)
    return Words(title, sentences(*parts), Tone.FAIL, "circle-x", action=_("See why"), excerpt=excerpt, **where)


def _why(data: Data) -> list[str]:
    """Of notices that name nothing but the reason."""
    reason = data.get("reason")
    return [_("Cause: %(cause)s.") % {"cause": Reason(reason).label}] if reason in Reason.values else []


def end_facts(workload: Workload) -> dict[str, Any]:
    """Nothing of a run that said nothing. Values are texts: JSON has no NaN."""
    found = [[name, str(value)] for name, value in headlines_of(workload.pk, MOST_METRICS)]
    return {LAST_METRICS: found} if found else {}


def _with_metrics(speaker: Speaker) -> Speaker:
    """What it said last stands after all else: how it ended comes first."""

    def say(data: Data) -> Words:
        found = speaker(data)
        metrics = ", ".join(_metrics_in(data))
        last = _("Its last metrics: %(metrics)s.") % {"metrics": metrics} if metrics else ""
        return replace(found, text=sentences(found.text, last))

    return say


def _metrics_in(data: Data) -> list[str]:
    recorded = private_in(data).get(LAST_METRICS)
    pairs = recorded[:MOST_METRICS] if isinstance(recorded, list) else []
    return [_metric(*pair) for pair in pairs if isinstance(pair, list) and len(pair) == 2]


def _metric(name: object, value: object) -> str:
    """A program chooses the name: of any length, without control characters (`points.check_name`)."""
    return f"{Truncator(str(name)).chars(LONGEST_METRIC)} {_short(value)}"


def _short(value: object) -> str:
    try:
        number = float(str(value))
    except ValueError:
        return "—"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    return "NaN" if math.isnan(number) else f"{number:.4g}"


_PAGE = "training:of_workload"

_OF_WORK = work.of_work(
    _PAGE,
    queued_again=gettext_lazy(
        "It is charged up to the last proof that it ran. It is queued again and goes on from its last checkpoint."
    ),
)
SPEAKERS: Mapping[str, Speaker] = {
    **_OF_WORK,
    "stopped_by_rule": _with_metrics(_OF_WORK["stopped_by_rule"]),
    "finished": _with_metrics(_finished),
    "failed": _with_metrics(_failed),
}
