"""Words about tuning experiments that have ended.

Data: `name`, `experiment_id`, `status` and `reason` of the experiment, `trials` (how many were made), and where one
was measured `metric`, `best` and `best_trial`.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.words.base import Data, Speaker, Words, link, name_in, number_in

_CAUSES = {
    "all_trials": gettext_lazy("All its trials are done."),
    "goal": gettext_lazy("A trial reached the goal."),
    "exhausted": gettext_lazy("Every point of its space was tried."),
    "budget": gettext_lazy("What is left of its budget does not pay for another trial."),
    "failed_trials": gettext_lazy("More trials failed than were to be borne."),
    "template_lost": gettext_lazy("The run that it tunes cannot be started any more."),
    "owner_lost": gettext_lazy("Its owner may not start runs any more."),
    "search_failed": gettext_lazy("The search could not propose another trial."),
}


def _ended(data: Data) -> Words:
    failed = data.get("status") == "failed"
    title = _("The experiment %(name)s has failed") if failed else _("The experiment %(name)s has ended")
    cause = str(_CAUSES.get(str(data.get("reason")), ""))
    return Words(
        title % {"name": name_in(data, "name")},
        sentences(cause, _trials(data), _best(data)),
        Tone.FAIL if failed else Tone.RUN,
        "circle-x" if failed else "circle-check",
        action=_("See the trials"),
        **link(data, "tuning:detail", "experiment_id"),
    )


def _trials(data: Data) -> str:
    count = int(number_in(data, "trials"))
    return ngettext("%(count)s trial was started.", "%(count)s trials were started.", count) % {"count": count}


def _best(data: Data) -> str:
    if "best" not in data:
        return ""
    words = {"metric": name_in(data, "metric"), "number": name_in(data, "best_trial"), "value": name_in(data, "best")}
    return _("The best %(metric)s is %(value)s, of trial %(number)s.") % words


KINDS: Mapping[str, Speaker] = {"experiment.ended": _ended}
