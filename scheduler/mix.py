"""The typical mix of tasks against which fragmentation is measured.

Kept in whole numbers so that fragmentation is exact: a change of zero is zero, whatever the order of the sums.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduler.types import WHOLE_MILLI, GpuRequest, Mix, MixEntry, Mode, Task
from scheduler.validate import makes_sense

COVERAGE = 0.95
SCALE = 1_000_000_000
TaskKind = tuple[int, GpuRequest | None]


def kind_of(task: Task) -> TaskKind:
    """Tasks of one kind are alike to the mix: CPU, cards and how much of each."""
    return task.cpu_milli, task.gpu


def typical_mix(weights: Mapping[TaskKind, float]) -> Mix:
    """The most frequent kinds until they cover 95 %, renormalised (Weng et al., ATC'23, section 4.1)."""
    total = sum(weights.values())
    chosen: list[tuple[TaskKind, float]] = []
    covered = 0.0
    for kind, weight in sorted(weights.items(), key=lambda item: (-item[1], repr(item[0]))):
        if covered >= COVERAGE * total:
            break
        chosen.append((kind, weight))
        covered += weight
    return Mix(tuple(MixEntry(cpu, gpu, weight / covered) for (cpu, gpu), weight in chosen))


def mix_of(tasks: Iterable[Task]) -> Mix:
    """The typical mix of these tasks, each counted once. Invalid requests do not count."""
    counts: defaultdict[TaskKind, float] = defaultdict(float)
    for task in tasks:
        if makes_sense(*kind_of(task)):
            counts[kind_of(task)] += 1.0
    return typical_mix(counts)


@dataclass(frozen=True, slots=True)
class LearnedMix:
    """Weights of kinds that fade with a half-life, so that the mix follows what people submit.

    Frozen: `with_tasks` returns the next state, which the caller stores between passes.
    """

    half_life_s: float = 7 * 86400.0
    at: float = 0.0
    weights: Mapping[TaskKind, float] | None = None

    def with_tasks(self, tasks: Iterable[Task], now: float) -> "LearnedMix":
        fade = 0.5 ** (max(0.0, now - self.at) / self.half_life_s)
        weights = {kind: w * fade for kind, w in (self.weights or {}).items() if w * fade > 1e-6}
        for kind in map(kind_of, tasks):
            if makes_sense(*kind):
                weights[kind] = weights.get(kind, 0.0) + 1.0
        return LearnedMix(self.half_life_s, now, weights)

    def mix(self) -> Mix | None:
        return typical_mix(self.weights) if self.weights else None


def cpu_per_card(mix: Mix) -> float:
    """Mean CPU-milli that tasks with cards ask for per 1000 GPU-milli; 0 when the mix has no such task."""
    cpu = sum(e.share * e.cpu_milli for e in mix.entries if e.gpu)
    gpu = sum(e.share * gpu_milli(e.gpu) for e in mix.entries if e.gpu)
    return cpu * WHOLE_MILLI / gpu if gpu else 0.0


def gpu_milli(gpu: GpuRequest | None) -> int:
    """Compute asked for over all cards, in milli-cards. MIG partitions are counted by the leading digit of sevenths."""
    if gpu is None:
        return 0
    if gpu.mode is Mode.WHOLE:
        return gpu.count * WHOLE_MILLI
    if gpu.mode is Mode.MIG:
        digits = (gpu.profile or "7")[:1]
        return gpu.count * WHOLE_MILLI * (int(digits) if digits.isdigit() else 7) // 7
    return gpu.count * gpu.core_milli
