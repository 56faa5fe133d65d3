"""What an observation shows as the columns of a program's row."""

from datetime import datetime, timedelta
from typing import Any

from apps.workloads.drivers.base import Exit, Observation
from apps.workloads.gpu_idleness import use_columns
from apps.workloads.models import Observed
from apps.workloads.reconcile.peaks import peak_columns


def seen_columns(program: Observed, seen: Observation, now: datetime) -> dict[str, Any]:
    """All but how it ended."""
    return {
        "phase": seen.phase.value,
        "seen_at": now,
        "ran_for_s": seen.ran_for_s,
        "steps": {step.name.value: {"seconds": round(step.seconds, 3), "done": step.done} for step in seen.steps},
        "progress": _progress_column(seen),
        "usage": _usage(seen),
        **peak_columns(program, seen),
        **use_columns(program, seen, now),
        **_checkpoint(seen, now),
    }


def exit_columns(end: Exit) -> dict[str, Any]:
    return {
        "exit_code": end.code,
        "exit_signal": end.signal,
        "exit_reason": end.reason.value,
        "exit_detail": end.detail[-8000:],
    }


def _progress_column(seen: Observation) -> dict[str, Any]:
    now = seen.progress
    if now is None:
        return {}
    left = {} if now.left_s is None else {"left_s": now.left_s}
    return {"text": now.text, "fraction": now.fraction, "said": now.said.as_json(), **left}


def _checkpoint(seen: Observation, now: datetime) -> dict[str, datetime]:
    """When the program last saved. A duration before now, so never in the future, whatever the node's clock says."""
    age = seen.checkpoint_age_s
    return {} if age is None else {"checkpoint_at": now - timedelta(seconds=max(0.0, age))}


def _usage(seen: Observation) -> dict[str, Any]:
    use = seen.usage
    if use is None:
        return {}
    return {
        "cpu_milli": use.cpu_milli,
        "memory_mib": use.memory_mib,
        "gpu_util_pct": use.gpu_util_pct,
        "gpu_memory_mib": use.gpu_memory_mib,
        "gpu_temperature_c": use.gpu_temperature_c,
    }
