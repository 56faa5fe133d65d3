"""Words about builds. Data: `workload_id`, `name`, and what `workloads.ended` says of the end."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.choices import Topic
from apps.notifications.kinds import Kind
from apps.notifications.words import work
from apps.notifications.words.base import Data, Speaker, Words, link, name_in
from apps.workloads.ended import last_lines_in

PAGE = "builds:of_workload"


def _built(data: Data) -> Words:
    title = _("The image %(name)s is built") % {"name": name_in(data, "name")}
    text = sentences(_("Environments and runs can start from it."), work.spent(data))
    return Words(title, text, Tone.RUN, "circle-check", action=_("See the image"), **link(data, PAGE, "workload_id"))


def _failed(data: Data) -> Words:
    title = _("The build of %(name)s has failed") % {"name": name_in(data, "name")}
    text = sentences(_("Its page names the line that failed."), work.spent(data))
    where = link(data, PAGE, "workload_id")
    return Words(title, text, Tone.FAIL, "circle-x", action=_("See why"), excerpt=last_lines_in(data), **where)


SPEAKERS: Mapping[str, Speaker] = {
    **work.of_work(PAGE, queued_again=gettext_lazy("It is charged up to the last proof that it ran. It begins anew.")),
    "built": _built,
    "failed": _failed,
}
DECLARED = (
    Kind("build.built", Topic.RUNS, gettext_lazy("Image built")),
    Kind("build.failed", Topic.RUNS, gettext_lazy("Build of an image failed")),
)
