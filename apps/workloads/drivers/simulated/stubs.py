"""An attempt that runs nothing: what it would have shown, computed from the time that has passed."""

import math
from dataclasses import dataclass

from apps.workloads.drivers.base import Exit, ExitReason, LogChunk, Observation, Phase, Progress, StepTime, Usage
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated import figures
from apps.workloads.drivers.simulated.grants import Grant

IMAGE_S, MOUNT_S = 2.0, 1.0
START_S = IMAGE_S + MOUNT_S
LINE_EVERY_S = 5
SAMPLE_EVERY_S = 5


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds since its launch: how many have passed, and after how many it was asked to stop and was released."""

    passed_s: float
    stopped_s: float | None = None
    released_s: float | None = START_S


def observe(grant: Grant, times: Times) -> Observation:
    """What it shows at that time."""
    until = times.passed_s if times.stopped_s is None else min(times.passed_s, times.stopped_s)
    begins = math.inf if times.released_s is None else max(START_S, times.released_s)
    ran = min(until - begins, grant.stub_s)
    if times.stopped_s is not None and ran < grant.stub_s:
        return _ended(grant, ran, Exit(None, 15, ExitReason.STOPPED, Said(Code.STOPPED)))
    if ran >= grant.stub_s:
        return _ended(grant, grant.stub_s, Exit(0, None, ExitReason.EXITED))
    if ran < 0:
        return _starting(until) if until < START_S else _at_barrier(until)
    return Observation(Phase.RUNNING, _steps(START_S), ran_for_s=ran, usage=_usage(grant, ran), peak_memory_mib=32)


def _starting(passed_s: float) -> Observation:
    phase = Phase.IMAGE if passed_s < IMAGE_S else Phase.MOUNT
    return Observation(phase, _steps(passed_s), Progress(Said(Code.SIMULATED), min(1.0, passed_s / START_S)))


def _at_barrier(passed_s: float) -> Observation:
    waits = StepTime(Phase.BARRIER, passed_s - START_S, False)
    return Observation(Phase.BARRIER, (*_steps(START_S), waits), Progress(Said(Code.WAITING_FOR_MEMBERS)))


def _steps(passed_s: float) -> tuple[StepTime, ...]:
    image = StepTime(Phase.IMAGE, min(passed_s, IMAGE_S), passed_s >= IMAGE_S)
    mount = StepTime(Phase.MOUNT, min(max(0.0, passed_s - IMAGE_S), MOUNT_S), passed_s >= START_S)
    return (image, mount) if image.done else (image,)


def _ended(grant: Grant, ran_s: float, end: Exit) -> Observation:
    ran = ran_s if ran_s >= 0 else None
    return Observation(Phase.EXITED, _steps(START_S + max(-START_S, min(0.0, ran_s))), ran_for_s=ran, exit=end)


def _usage(grant: Grant, at_s: float) -> Usage:
    return figures.with_cards(Usage(at_s=at_s, cpu_milli=5, memory_mib=32), grant.devices)


def metrics(grant: Grant, ran_s: float, since_s: float) -> list[Usage]:
    times = range(0, int(ran_s) + 1, SAMPLE_EVERY_S)
    return [_usage(grant, float(at)) for at in times if at > since_s]


def log(grant: Grant, ran_s: float, offset: int, limit: int, *, ended: bool) -> LogChunk:
    """The same bytes at the same offsets, however often and whenever they are read."""
    text = "".join(_lines(grant, ran_s)).encode()
    data = text[offset : offset + limit]
    end = offset + len(data)
    return LogChunk(data, offset, end, complete=ended and end >= len(text), size=len(text))


def _lines(grant: Grant, ran_s: float) -> list[str]:
    if ran_s < 0:
        return []
    head = (
        "[plstack] Simulated hardware: as many simulated runs as may be real processes are running already.\n"
        f"[plstack] This one is a stub: nothing is executed, it only takes its time ({grant.stub_s:.0f} s).\n"
    )
    seconds = range(LINE_EVERY_S, int(ran_s) + 1, LINE_EVERY_S)
    return [head, *(f"[simulated] {second} of {grant.stub_s:.0f} s\n" for second in seconds)]
