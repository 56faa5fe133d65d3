"""When an environment is idle: a pure function of measurements. What cannot be measured counts as use."""

from dataclasses import dataclass
from datetime import datetime

from apps.envs.choices import Busy
from apps.workloads.idle_rule import gpu_in_use
from apps.workloads.idle_rule import is_due as is_due
from apps.workloads.idle_rule import is_warning_due as is_warning_due
from apps.workloads.idle_rule import release_at as release_at

GPU_BUSY_PCT = 20.0
# JupyterLab and VS Code by themselves stay well below; a program that computes does not.
CPU_BUSY_MILLI = 150


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement. None: it could not be measured; `gpu_pct` also if there is no GPU (`has_gpu` False).

    CPU in thousandths of a core and GPU in percent, each the mean of about the last minute. `kernels_busy`: how many
    notebooks compute at this moment. The moments are of the last use of each kind, None for never.
    """

    now: datetime
    started_at: datetime
    kernels_busy: int | None
    cpu_milli: int | None
    gpu_pct: float | None = None
    has_gpu: bool = False
    keep_until: datetime | None = None
    kernel_at: datetime | None = None
    terminal_at: datetime | None = None
    input_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`busy_at`: the last moment of use. `cause`: why it is in use now, or what the last use was."""

    busy_at: datetime
    cause: Busy


def update_verdict(seen: Measurement, before: Verdict | None = None) -> Verdict:
    """The verdict after another measurement. `busy_at` never goes back and is never in the future."""
    cause = _now_busy(seen)
    if cause is not None:
        return Verdict(seen.now, cause)
    uses = [(seen.started_at, Busy.STARTED)]
    uses += [(before.busy_at, before.cause)] if before is not None else []
    moments = ((seen.kernel_at, Busy.KERNEL), (seen.terminal_at, Busy.TERMINAL), (seen.input_at, Busy.INPUT))
    uses += [(moment, kind) for moment, kind in moments if moment is not None]
    # A program inside reports when its notebooks were used; it must not be able to report a time in the future.
    latest, kind = max(uses, key=lambda use: use[0])
    return Verdict(min(latest, seen.now), kind)


def _now_busy(seen: Measurement) -> Busy | None:
    if seen.keep_until is not None and seen.keep_until > seen.now:
        return Busy.KEPT
    if seen.kernels_busy:
        return Busy.KERNEL
    if gpu_in_use(seen.gpu_pct, from_pct=GPU_BUSY_PCT):
        return Busy.GPU
    if seen.cpu_milli is not None and seen.cpu_milli >= CPU_BUSY_MILLI:
        return Busy.CPU
    if seen.kernels_busy is None or seen.cpu_milli is None or (seen.has_gpu and seen.gpu_pct is None):
        return Busy.UNSEEN
    return None
