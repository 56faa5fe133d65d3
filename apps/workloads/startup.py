"""The start-up of a run as steps: what each took, what it usually takes, which is under way."""

from typing import Any

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.formatting import duration
from apps.workloads import selectors as workloads
from apps.workloads.choices import Status
from apps.workloads.dataset_copies import CopyOutlook, coming_copy, outlook_words
from apps.workloads.models import Attempt, Workload
from apps.workloads.words import copied_so_far, recorded

# A step is slow when it took this much longer than usual, and long enough for anybody to care.
SLOW_FACTOR, SLOW_SECONDS = 3.0, 5.0
AT_ONCE_S = 0.1
ICONS = {"queue": "clock", "image": "cloud-download", "mount": "folder", "ready": "player-play"}


def startup_steps(workload: Workload, attempt: Attempt | None) -> list[dict[str, Any]]:
    """Steps as `components/steps.html` shows them."""
    took = workloads.startup_seconds(workload, attempt)
    usual = workloads.usual_startup_seconds(workload)
    under_way = _under_way(workload, attempt)
    copies = coming_copy(workload, attempt)
    labels = {"queue": _("Queue"), "image": _("Runtime"), "mount": _("Files"), "ready": _("Ready")}
    return [
        {
            "label": label,
            "icon": ICONS[key],
            "value": _brief(took[key]) if key in took else "",
            "note": _note(key, attempt, usual.get(key), copies, active=key == under_way),
            "tone": _tone(key, took.get(key), usual.get(key), under_way),
            "active": key == under_way,
        }
        for key, label in labels.items()
    ]


def total_seconds(workload: Workload, attempt: Attempt | None) -> float | None:
    """From submission to ready; None before."""
    if attempt is None or attempt.started_at is None:
        return None
    return (attempt.started_at - workload.queued_at).total_seconds()


def _under_way(workload: Workload, attempt: Attempt | None) -> str:
    if workload.status in (Status.QUEUED, Status.PLACED):
        return "queue"
    if workload.status == Status.STARTING and attempt is not None:
        return attempt.phase if attempt.phase in ICONS else "image"
    return ""


def _tone(key: str, took: float | None, usual: float | None, under_way: str) -> str:
    if key == under_way:
        return Tone.WAIT
    if took is None:
        return ""
    if usual is not None and took > SLOW_FACTOR * usual and took - usual > SLOW_SECONDS:
        return Tone.WARN
    return Tone.RUN if key == "ready" else Tone.STOP


def _note(key: str, attempt: Attempt | None, usual: float | None, copies: CopyOutlook | None, *, active: bool) -> str:
    if active and attempt is not None and attempt.progress.get("text"):
        return progress_text(attempt)
    if key == "mount" and copies is not None:
        return outlook_words(copies)
    return _("usually %(time)s") % {"time": _brief(usual)} if usual is not None else ""


def _brief(seconds: float) -> str:
    return _("at once") if seconds < AT_ONCE_S else duration(seconds)


def progress_text(attempt: Attempt) -> str:
    """What the driver says it is doing, with how much of it is done and how long it takes, where it knows."""
    now = attempt.progress
    fraction, left_s = now.get("fraction"), now.get("left_s")
    text = copied_so_far(now)
    if not text:
        text = recorded(now) if fraction is None else f"{recorded(now)} · {round(100 * fraction)}%"
    if left_s is None:
        return text
    return _("%(progress)s, about %(time)s") % {"progress": text, "time": duration(max(1.0, left_s))}
