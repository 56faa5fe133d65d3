"""What happened to a run, in words: one sentence for each event of its workload."""

from decimal import Decimal

from django.utils.translation import gettext as _

from apps.common.formatting import duration
from apps.common.money import yuan_rate
from apps.workloads import crediting, gpu_idleness, longest, options, saving
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
    "longest": "clock",
    gpu_idleness.EVENT: "zzz",
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
    if (said := _RULES_OF_TIME.get(event.kind)) is not None:
        return said(event)
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
    if event.reason == Reason.LONGEST and event.data.get("longest_s"):
        time = duration(event.data["longest_s"])
        return _("It reached its longest run time of %(time)s, so it is stopped") % {"time": time}
    if event.reason == Reason.GPU_IDLE and event.data.get("minutes"):
        time = duration(60 * event.data["minutes"])
        return _("Its GPU was not used for %(time)s, so it is stopped") % {"time": time}
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
    return {
        Reason.LONGEST.value: _("Its longest run time is over: its files are saved, then it stops"),
        Reason.GPU_IDLE.value: _("Its GPU is not used: its files are saved, then it stops"),
        Reason.TIMED.value: _("The time that was set has come: its files are saved, then it stops"),
    }.get(reason) or _("The balance is used up: its files are saved, then it stops")


def _longest(event: Event) -> str:
    words = {"who": event.data.get("by") or event.actor_label, "time": duration(event.data.get("longest_s"))}
    if event.data.get("longest_s") is None:
        return _("%(who)s took its longest run time away") % words
    return _("%(who)s set its longest run time to %(time)s") % words


def _gpu_idle(event: Event) -> str:
    minutes = event.data.get("minutes")
    words = {"who": event.data.get("by") or event.actor_label, "time": duration(60 * (minutes or 0))}
    if minutes is None:
        return _("%(who)s let it run on, however long its GPU is not used") % words
    return _("%(who)s lets it stop once its GPU has not been used for %(time)s") % words


_RULES_OF_TIME = {saving.EVENT: _saving, longest.EVENT: _longest, gpu_idleness.EVENT: _gpu_idle}


def _reason(event: Event) -> str:
    known = Reason(event.reason) if event.reason in Reason.values else Reason.NONE
    return str(known.label)
