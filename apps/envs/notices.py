"""Words about development environments. Data: `environment_id`, `name`, `at` (ISO 8601), `minutes` idle."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.words import work
from apps.notifications.words.base import Data, Speaker, Words, link, moment_in, name_in, number_in, time_in
from apps.notifications.words.work import spent


def _idle_soon(data: Data) -> Words:
    text = _("It will be saved and stopped soon, and then costs nothing. Use it, or keep it going on its page.")
    if time_in(data, "at") is not None:
        text = _(
            "It will be saved and stopped at %(time)s, and then costs nothing. Use it, or keep it going on its page."
        ) % {"time": moment_in(data, "at")}
    return _said(data, _("%(name)s is idle"), text, Tone.WARN, "zzz")


def _released(data: Data) -> Words:
    text = _("It was idle. Its files were saved, charging has ended, one click starts it again.")
    minutes = int(number_in(data, "minutes"))
    if minutes > 0:
        text = ngettext(
            "It was idle for %(count)s minute. Its files were saved, charging has ended, one click starts it again.",
            "It was idle for %(count)s minutes. Its files were saved, charging has ended, one click starts it again.",
            minutes,
        ) % {"count": minutes}
    return _said(data, _("%(name)s was stopped"), sentences(text, spent(data)), Tone.STOP, "player-stop")


def _not_released(data: Data) -> Words:
    text = _("It is idle, but its files could not be saved, so it was not stopped and goes on costing. Look at it.")
    return _said(data, _("%(name)s could not be saved"), text, Tone.FAIL, "alert-triangle")


def _failed(data: Data) -> Words:
    text = _("Its page says why, whose fault it was and what to do. Its files are kept.")
    return _said(data, _("%(name)s has failed"), text, Tone.FAIL, "circle-x")


def _expiring(data: Data) -> Words:
    text = _("Its time is running out. Renew it on its page to go on using it.")
    if time_in(data, "at") is not None:
        text = _("Its time ends at %(time)s. Renew it on its page to go on using it.") % {"time": moment_in(data, "at")}
    return _said(data, _("%(name)s expires soon"), text, Tone.WARN, "clock")


def _expired(data: Data) -> Words:
    text = _("It was stopped. Its files are kept; renew it to go on using it.")
    return _said(data, _("%(name)s has expired"), sentences(text, spent(data)), Tone.FAIL, "clock")


def _shutdown_soon(data: Data) -> Words:
    text = _("At %(time)s it is saved and stopped, as was set. Change or cancel that on its page.")
    words = {"time": moment_in(data, "at")}
    return _said(data, _("%(name)s stops soon"), text % words, Tone.WARN, "clock-stop")


def _said(data: Data, title: str, text: str, tone: Tone, icon: str) -> Words:
    target = link(data, "envs:detail", "environment_id")
    return Words(title % {"name": name_in(data, "name")}, text, tone, icon, action=_("Open"), **target)


SPEAKERS: Mapping[str, Speaker] = {
    **work.of_work(
        "envs:of_workload",
        queued_again=gettext_lazy(
            "It is charged up to the last proof that it ran. It is queued again; its home folder stays as it is."
        ),
    ),
    "idle_soon": _idle_soon,
    "released": _released,
    "not_released": _not_released,
    "failed": _failed,
    "expiring": _expiring,
    "expired": _expired,
    "shutdown_soon": _shutdown_soon,
}
