"""Words about runs of pipelines that have ended.

Data: `name` of the pipeline, `number`, `run_id`, `status` and `reason` of its run, and where one failed `step`.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.words.base import Data, Speaker, Words, link, name_in

_CAUSES = {
    "budget": gettext_lazy("What is left of its budget does not pay for another step."),
    "owner_lost": gettext_lazy("Its owner may not start runs any more."),
}
_TITLES = {
    "succeeded": gettext_lazy("The pipeline %(name)s #%(number)s has finished"),
    "failed": gettext_lazy("The pipeline %(name)s #%(number)s has failed"),
}


def _ended(data: Data) -> Words:
    status = str(data.get("status"))
    title = str(_TITLES.get(status, gettext_lazy("The pipeline %(name)s #%(number)s was stopped")))
    cause = str(_CAUSES.get(str(data.get("reason")), ""))
    step = _("The step %(step)s has failed.") % {"step": name_in(data, "step")} if "step" in data else ""
    return Words(
        title % {"name": name_in(data, "name"), "number": name_in(data, "number")},
        sentences(cause, step),
        {"succeeded": Tone.RUN, "failed": Tone.FAIL}.get(status, Tone.STOP),
        {"succeeded": "circle-check", "failed": "circle-x"}.get(status, "player-stop"),
        action=_("See its steps"),
        **link(data, "pipelines:run", "run_id"),
    )


KINDS: Mapping[str, Speaker] = {"pipeline.ended": _ended}
