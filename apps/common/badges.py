"""How a state looks: tone, icon and word. Colour only ever means state and comes with an icon and a word."""

from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Tone(StrEnum):
    RUN = "run"
    WAIT = "wait"
    WARN = "warn"
    FAIL = "fail"
    STOP = "stop"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Badge:
    tone: Tone
    icon: str
    label: str | Promise


_BADGES: dict[str, Badge] = {
    # What runs.
    "queued": Badge(Tone.WAIT, "clock", _("Queued")),
    "placed": Badge(Tone.WAIT, "map-pin", _("Placed")),
    "starting": Badge(Tone.WAIT, "loader-2", _("Starting")),
    "running": Badge(Tone.RUN, "player-play", _("Running")),
    "stopping": Badge(Tone.WAIT, "loader-2", _("Stopping")),
    "succeeded": Badge(Tone.STOP, "check", _("Finished")),
    "failed": Badge(Tone.FAIL, "circle-x", _("Failed")),
    "stopped": Badge(Tone.STOP, "player-stop", _("Stopped")),
    "waiting": Badge(Tone.WAIT, "clock", _("Waiting")),
    "ending": Badge(Tone.WAIT, "loader-2", _("Ending")),
    "pruned": Badge(Tone.STOP, "scissors", _("Stopped early")),
    "unmeasured": Badge(Tone.FAIL, "ruler-off", _("Metric missing")),
    "skipped": Badge(Tone.STOP, "player-skip-forward", _("Left out")),
    "stale": Badge(Tone.STALE, "cloud-off", _("Unknown")),
    # The tones themselves, for states that have words of their own.
    Tone.RUN: Badge(Tone.RUN, "circle-check", _("Normal")),
    Tone.WAIT: Badge(Tone.WAIT, "clock", _("Waiting")),
    Tone.WARN: Badge(Tone.WARN, "alert-triangle", _("Attention")),
    Tone.FAIL: Badge(Tone.FAIL, "circle-x", _("Failed")),
    Tone.STOP: Badge(Tone.STOP, "square", _("Off")),
}

_UNKNOWN = Badge(Tone.STOP, "question-mark", _("Unknown"))


def badge(status: str, label: str | Promise = "") -> Badge:
    """The look of a workload status or of a bare tone. A choice's own label, or `label`, wins over the usual word."""
    found = _BADGES.get(str(getattr(status, "value", status)), _UNKNOWN)
    words = label or getattr(status, "label", "") or (found.label if found is not _UNKNOWN else str(status))
    return Badge(found.tone, found.icon, words)
