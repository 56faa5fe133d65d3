"""Words about training runs. Data: `workload_id`, `name`, `seconds` of running, `cost_fen`, `reason` (a code)."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import duration
from apps.common.money import yuan
from apps.notifications.words import work
from apps.notifications.words.base import Data, Speaker, Words, link, name_in, number_in


def _finished(data: Data) -> Words:
    title = _("%(name)s has finished") % {"name": name_in(data, "name")}
    text = _("It ran for %(time)s.") % {"time": duration(number_in(data, "seconds"))}
    if "cost_fen" in data:
        text = _("It ran for %(time)s and cost %(cost)s.") % {
            "time": duration(number_in(data, "seconds")),
            "cost": yuan(int(number_in(data, "cost_fen"))),
        }
    return Words(title, text, Tone.RUN, "circle-check", action=_("See the result"), **link(data, _PAGE, "workload_id"))


def _failed(data: Data) -> Words:
    title = _("%(name)s has failed") % {"name": name_in(data, "name")}
    text = _("Its page says why, whose fault it was and what to do.")
    return Words(title, text, Tone.FAIL, "circle-x", action=_("See why"), **link(data, _PAGE, "workload_id"))


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
