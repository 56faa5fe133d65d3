"""What happened to a run, in words: one sentence for each event of its workload."""

from decimal import Decimal

from django.utils.translation import gettext as _

from apps.common.money import yuan_rate
from apps.workloads import crediting, options, saving
from apps.workloads.choices import BY_RULE, NOT_STARTED, Reason, Status
from apps.workloads.explaining.names import NAMELESS
from apps.workloads.faults import why_stopped
from apps.workloads.models import Event
from apps.workloads.queueing import promises
from apps.workloads.queueing.words import credited, gave_way, room_kept
from apps.workloads.waiting import explain

_KINDS = {
    "waiting": "hourglass",
    "preemption": "arrow-back-up",
    "promise": "bookmark",
    "saving": "device-floppy",
    "given": "cpu",
    "credit": "arrow-back-up",
}
_ICONS = {
    Status.QUEUED: "clock",
    Status.PLACED: "map-pin",
    Status.STARTING: "loader-2",
    Status.RUNNING: "player-play",
    Status.STOPPING: "player-stop",
    Status.SUCCEEDED: "check",
    Status.FAILED: "circle-x",
    Status.STOPPED: "player-stop",
}


def event_title(event: Event) -> str:
    """`Submitted and queued`, `Waits: the quota is used up`, `Stopped by Lin Xiao`."""
    if event.kind == "waiting":
        return _("Waits: %(why)s") % {"why": _cause(event)}
    if event.kind == "preemption":
        return gave_way(event.data)
    if event.kind == promises.EVENT:
        return room_kept(event.data)
    if event.kind == crediting.EVENT:
        return credited(event.data)
    if event.kind == options.EVENT:
        words = {"model": event.data.get("model", ""), "rate": yuan_rate(Decimal(event.data.get("rate", 0)))}
        return _("It got %(model)s, listed at %(rate)s") % words
    if event.kind == saving.EVENT:
        return _saving(event)
    status = Status(event.status)
    if status is Status.QUEUED:
        return _queued(event)
    if status in (Status.STOPPING, Status.STOPPED):
        return _stopped(event, status)
    return {
        Status.PLACED: _("A machine was found and its resources reserved"),
        Status.STARTING: _("Handed to the machine: preparing runtime and files"),
        Status.RUNNING: _("Ready: the program runs and charging starts"),
        Status.SUCCEEDED: _("Finished: the program ended without an error"),
        Status.FAILED: _("Failed: %(why)s") % {"why": _reason(event)},
    }[status]


def _cause(event: Event) -> str:
    """The dominant cause without its numbers: those are of the moment, the event only says that the cause changed."""
    short = {
        "cpu": _("not enough free CPU"),
        "memory": _("not enough free memory"),
        "devices": _("not enough free GPUs"),
        "slices": _("not enough free slices"),
    }
    return short.get(event.data.get("cause", "")) or explain(event.data, names=NAMELESS).title


def event_icon(event: Event) -> str:
    return _KINDS.get(event.kind) or _ICONS[Status(event.status)]


def _queued(event: Event) -> str:
    if event.reason == Reason.SUBMITTED:
        return _("Submitted and queued")
    return _("Queued again after attempt %(number)s: %(why)s") % {
        "number": event.attempt_number,
        "why": _reason(event),
    }


def _stopped(event: Event, status: Status) -> str:
    if event.reason == Reason.ARREARS:
        return _("The balance is used up, so it is stopped")
    if event.reason == Reason.CAP:
        return _("Its spending cap is reached, so it is stopped")
    if event.reason == Reason.PREPAID:
        return _("Its prepaid time ended, so it is stopped")
    who = event.data.get("by") or event.actor_label
    if event.reason in BY_RULE | NOT_STARTED:
        return why_stopped(Reason(event.reason), who)
    if status is Status.STOPPING:
        return _("%(who)s asked it to stop") % {"who": who}
    return _("Stopped, as %(who)s asked") % {"who": who}


def _saving(event: Event) -> str:
    act, reason = saving.words_data(event.data)
    if act == "called_off":
        return _("It may go on: the reason for stopping it is gone")
    if reason == Reason.CAP:
        return _("Its spending cap is near: its files are saved, then it stops")
    if reason == Reason.PREPAID:
        return _("Its prepaid time ended: its files are saved, then it stops")
    return _("The balance is used up: its files are saved, then it stops")


def _reason(event: Event) -> str:
    known = Reason(event.reason) if event.reason in Reason.values else Reason.NONE
    return str(known.label)
