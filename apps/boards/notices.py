"""Words about boards. Data: `workload_id`, `name`, and what `workloads.ended` says of the end."""

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

PAGE = "boards:of_workload"


def _failed(data: Data) -> Words:
    title = _("%(name)s has failed") % {"name": name_in(data, "name")}
    text = sentences(_("The output of the runs is as it was. Its log says what happened."), work.spent(data))
    where = link(data, PAGE, "workload_id")
    return Words(title, text, Tone.FAIL, "circle-x", action=_("See why"), excerpt=last_lines_in(data), **where)


SPEAKERS: Mapping[str, Speaker] = {
    **work.of_work(PAGE, queued_again=gettext_lazy("It is charged up to the last proof that it ran. It opens anew.")),
    "failed": _failed,
}
DECLARED = (Kind("tensorboard.failed", Topic.RUNS, gettext_lazy("TensorBoard failed")),)
