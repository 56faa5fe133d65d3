"""Words about work that has to give way. Data: `workload_id`, `name`, `why`, `priority`, `leave_at`, `kill_at`
(ISO 8601), `lost_s`, `credited_fen`. The right by which it has to is told, never another organisation's task."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.formatting import duration
from apps.common.money import yuan
from apps.notifications.words.base import Data, Speaker, Words, link, moment_in, name_in, number_in

GUARANTEE = "guarantee"


def _asked(data: Data) -> Words:
    title = _("%(name)s has to give way") % {"name": name_in(data, "name")}
    times = {"leave": moment_in(data, "leave_at"), "kill": moment_in(data, "kill_at"), "whom": _whom(data)}
    text = (
        _(
            "It is asked to end at %(leave)s and may save until %(kill)s, %(whom)s. It is queued again, first in line; "
            "work since its last checkpoint is not charged."
        )
        % times
    )
    return Words(title, text, Tone.WARN, "arrow-back-up")


def _whom(data: Data) -> str:
    if data.get("why") == GUARANTEE:
        return _("for another organisation's guarantee")
    if data.get("priority") is None:
        return _("for a task of your organisation with a higher priority")
    return _("for a task of your organisation with priority %(number)s") % {"number": int(number_in(data, "priority"))}


def _stays(data: Data) -> Words:
    title = _("%(name)s may stay") % {"name": name_in(data, "name")}
    return Words(title, _("The room that it was to make is not needed any more."), Tone.RUN, "circle-check")


def _gave_way(data: Data) -> Words:
    title = _("%(name)s gave way and is queued again, first in line") % {"name": name_in(data, "name")}
    words = {"time": duration(number_in(data, "lost_s")), "amount": yuan(int(number_in(data, "credited_fen")))}
    text = _("It had worked for %(time)s since its last checkpoint; nothing was charged for that.") % words
    if number_in(data, "credited_fen"):
        text = _("%(amount)s were credited: the %(time)s since its last checkpoint are not charged.") % words
    return Words(title, text, Tone.WAIT, "clock")


def _of_run(speaker: Speaker) -> Speaker:
    def said(data: Data) -> Words:
        words = speaker(data)
        target = link(data, "training:of_workload", "workload_id")
        return Words(words.title, words.text, words.tone, words.icon, action=_("Open"), **target)

    return said


KINDS: Mapping[str, Speaker] = {
    "run.asked_to_leave": _of_run(_asked),
    "run.stays": _of_run(_stays),
    "run.gave_way": _of_run(_gave_way),
    "environment.asked_to_leave": _asked,
    "environment.stays": _stays,
    "environment.gave_way": _gave_way,
}
