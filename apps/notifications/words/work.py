"""Words about any kind of work: it has to give way, reaches its spending cap, is lost with its machine, may not start.

Data: `workload_id`, `name`, `why`, `priority`, `leave_at`, `kill_at` (ISO 8601), `lost_s`, `credited_fen`, `limit_fen`,
`reason`.
The right by which it has to give way is told, never another organisation's task.
"""

from dataclasses import replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.formatting import duration, sentences
from apps.common.money import FEN_PER_YUAN, yuan
from apps.notifications.words.base import Data, Speaker, Words, link, moment_in, name_in, number_in

GUARANTEE = "guarantee"


def spent(data: Data) -> str:
    """How long it ran and what it cost; empty where the notice has neither."""
    words = {"time": duration(number_in(data, "seconds")), "cost": _cost(data)}
    if not number_in(data, "seconds"):
        return _("It did not get to run, and costs nothing.") if data.get("cost_fen") == 0 else ""
    return (_("It ran for %(time)s and cost %(cost)s.") if "cost_fen" in data else _("It ran for %(time)s.")) % words


def _cost(data: Data) -> str:
    """Two places, or four where it cost less than a fen."""
    exact = number_in(data, "cost_exact_fen")
    return f"¥{exact / FEN_PER_YUAN:,.4f}" if exact else yuan(int(number_in(data, "cost_fen")))


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


def _lost(data: Data, queued: str) -> Words:
    """Data: `node`, and whether it is `queued` again."""
    names = {"name": name_in(data, "name"), "node": name_in(data, "node")}
    title = _("The machine of %(name)s failed") % names
    text = queued
    if not data.get("queued"):
        text = _("It was to stop anyway, so it has ended. It is charged up to the last proof that it ran.")
    return Words(title, sentences(_("%(node)s does not answer any more.") % names, text), Tone.WARN, "server-off")


def _credited(data: Data) -> Words:
    """Data: `lost_s`, `credited_fen`, `cause` (node or platform)."""
    words = {
        "name": name_in(data, "name"),
        "time": duration(number_in(data, "lost_s")),
        "amount": yuan(int(number_in(data, "credited_fen"))),
    }
    title = _("%(amount)s were credited for %(name)s") % words
    whose = _("The platform failed.") if data.get("cause") == "platform" else _("Its machine failed.")
    text = _("%(time)s of work have to be done again, so they are not charged.") % words
    return Words(title, sentences(whose, text), Tone.RUN, "arrow-back-up")


def _cap_reached(data: Data) -> Words:
    title = _("%(name)s reaches its spending cap") % {"name": name_in(data, "name")}
    text = _("It may cost %(limit)s. It is saved and then stopped; raise the cap to let it go on.") % {
        "limit": yuan(int(number_in(data, "limit_fen")))
    }
    return Words(title, text, Tone.WARN, "alert-triangle")


def _time_nearly_over(data: Data) -> Words:
    """Data: `at`, `longest_s`."""
    title = _("%(name)s reaches its longest run time soon") % {"name": name_in(data, "name")}
    text = _("At %(time)s it has run for %(longest)s. It is saved and then stopped; give it more time to let it go on.")
    words = {"time": moment_in(data, "at"), "longest": duration(number_in(data, "longest_s"))}
    return Words(title, text % words, Tone.WARN, "clock")


def _gpu_idle_soon(data: Data) -> Words:
    """Data: `at`, `minutes`."""
    title = _("%(name)s does not use its GPU") % {"name": name_in(data, "name")}
    text = _("If that stays so for %(longest)s, it is saved and stopped: at %(time)s.")
    words = {"time": moment_in(data, "at"), "longest": duration(60 * number_in(data, "minutes"))}
    return Words(title, text % words, Tone.WARN, "zzz")


def _stopped_by_rule(data: Data) -> Words:
    """Data: `reason`, `seconds`, `cost_fen`. What it wrote was saved, or its page says why not."""
    title = _("%(name)s was stopped") % {"name": name_in(data, "name")}
    causes = {
        "longest": _("It reached its longest run time."),
        "gpu_idle": _("It did not use its GPU."),
        "timed": _("The time that was set for its stop has come."),
    }
    text = causes.get(str(data.get("reason")), "")
    return Words(title, sentences(text, spent(data)), Tone.STOP, "player-stop")


def _stopped_unpaid(data: Data) -> Words:
    title = _("%(name)s is stopped: the organisation's balance is used up") % {"name": name_in(data, "name")}
    text = _("It is saved first and its files are kept. It can start again once the organisation has topped up.")
    return Words(title, text, Tone.FAIL, "circle-x")


def _not_started(data: Data) -> Words:
    title = _("%(name)s was not started") % {"name": name_in(data, "name")}
    text = _("You may not run it any more. Its page says why.")
    if data.get("reason") == "mount_lost":
        text = _("It mounts files that you may not use any more. Its page names them.")
    if data.get("reason") == "secret_lost":
        text = _("A secret that it needs is missing. Its page names it.")
    if data.get("reason") == "image_blocked":
        text = _("The policy about vulnerabilities does not allow its image. Its page says why.")
    return Words(title, text, Tone.WARN, "circle-x")


def of_work(page: str, *, queued_again: str | Promise) -> dict[str, Speaker]:
    """What every kind of work is told, by the second part of the notice's name; each leads to `page` of the workload.

    `queued_again`: what becomes of work whose machine was lost and that is queued again.
    """

    def lost(data: Data) -> Words:
        return _lost(data, str(queued_again))

    speakers: dict[str, Speaker] = {
        "asked_to_leave": _asked,
        "stays": _stays,
        "gave_way": _gave_way,
        "not_started": _not_started,
        "lost": lost,
        "credited": _credited,
        "cap_reached": _cap_reached,
        "time_nearly_over": _time_nearly_over,
        "gpu_idle_soon": _gpu_idle_soon,
        "stopped_by_rule": _stopped_by_rule,
        "stopped_unpaid": _stopped_unpaid,
    }
    return {what: _leading_to(page, speaker) for what, speaker in speakers.items()}


def _leading_to(page: str, speaker: Speaker) -> Speaker:
    def said(data: Data) -> Words:
        return replace(speaker(data), action=_("Open"), **link(data, page, "workload_id"))

    return said
