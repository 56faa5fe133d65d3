"""The typical mix of tasks that fragmentation is measured against, learned from what people submit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import scheduler
from apps.workloads.models import Workload
from apps.workloads.queueing.tasks_of import task_of
from apps.workloads.simulation_scope import of_world

Json = dict[str, Any]
Kind = tuple[int, scheduler.GpuRequest | None]

# How far what was learned may drift from what is used (total variation distance) before it is used itself. Each step
# costs the scheduler the scores that it has kept.
STEP = 0.05
# A fresh memory learns from so many of the newest submissions, and keeps so many kinds.
NEWEST, MOST_KINDS = 2000, 200


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned so far, and the mix in use, which follows it in steps."""

    memory: scheduler.LearnedMix
    used: scheduler.Mix | None = None


def learn(before: Learned, now: datetime, *, simulated: bool) -> Learned:
    """With the submissions since the last time, each counted once; older ones fade with a half-life of seven days."""
    memory = before.memory
    rows = Workload.objects.filter(of_world(simulated)).order_by("-created_at", "-id")
    if memory.weights is not None:
        rows = rows.filter(created_at__gt=datetime.fromtimestamp(memory.at, now.tzinfo))
    tasks = [task_of(workload) for workload in rows.filter(created_at__lte=now)[:NEWEST]]
    if not tasks:
        return before
    seen = memory.with_tasks(tasks, now.timestamp())
    return _adopted(Learned(_heaviest(seen), before.used))


def _heaviest(memory: scheduler.LearnedMix) -> scheduler.LearnedMix:
    weights = sorted((memory.weights or {}).items(), key=lambda item: -item[1])[:MOST_KINDS]
    return scheduler.LearnedMix(memory.half_life_s, memory.at, dict(weights))


def _adopted(learned: Learned) -> Learned:
    newest = learned.memory.mix()
    if learned.used is not None and newest is not None and _apart(learned.used, newest) <= STEP:
        return learned
    return Learned(learned.memory, newest)


def _apart(one: scheduler.Mix, other: scheduler.Mix) -> float:
    """Total variation distance of two mixes, 0 to 1."""
    first, second = ({(e.cpu_milli, e.gpu): e.share for e in mix.entries} for mix in (one, other))
    return sum(abs(first.get(kind, 0.0) - second.get(kind, 0.0)) for kind in first.keys() | second.keys()) / 2


def as_json(learned: Learned) -> Json:
    weights = (learned.memory.weights or {}).items()
    return {
        "at": learned.memory.at,
        "weights": [_entry(cpu, gpu, weight) for (cpu, gpu), weight in weights],
        "used": [_entry(e.cpu_milli, e.gpu, e.share) for e in learned.used.entries] if learned.used else None,
    }


def from_json(data: Mapping[str, Any]) -> Learned:
    """Of `{}` and anything that this version does not understand: nothing learned yet."""
    try:
        weights = {(cpu, _gpu(gpu)): weight for cpu, gpu, weight in data["weights"]}
        used = data["used"]
        mix = scheduler.Mix(tuple(scheduler.MixEntry(cpu, _gpu(gpu), share) for cpu, gpu, share in used or ()))
        return Learned(scheduler.LearnedMix(at=data["at"], weights=weights), mix if used else None)
    except (KeyError, TypeError, ValueError):
        return Learned(scheduler.LearnedMix())


def _entry(cpu_milli: int, gpu: scheduler.GpuRequest | None, weight: float) -> list[Any]:
    return [cpu_milli, asdict(gpu) if gpu else None, weight]


def _gpu(data: Mapping[str, Any] | None) -> scheduler.GpuRequest | None:
    if data is None:
        return None
    return scheduler.GpuRequest(
        **{**data, "mode": scheduler.Mode(data["mode"]), "any_of": tuple(data.get("any_of", ()))}
    )
