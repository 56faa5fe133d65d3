"""Words about training runs. Data: `workload_id`, `name`, and what `workloads.ended` says of the end."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import duration, sentences
from apps.notifications.words import work
from apps.notifications.words.base import Data, Speaker, Words, link, name_in
from apps.workloads.choices import Reason
from apps.workloads.ended import advice_in, last_lines_in


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


_PAGE = "training:of_workload"

SPEAKERS: Mapping[str, Speaker] = {
    **work.of_work(
        _PAGE,
        queued_again=gettext_lazy(
            "It is charged up to the last proof that it ran. It is queued again and goes on from its last checkpoint."
        ),
    ),
    "finished": _finished,
    "failed": _failed,
}
