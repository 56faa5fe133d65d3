"""The scheduler's answer to a task that waits, as the JSON that is kept of it. Nothing of another tenant goes in."""

from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import scheduler

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kin:
    """Where a task stands among those that wait for the same kind of card, and how many of its organisation before."""

    position: int
    total: int
    own_ahead: int


def kin_of(queue: Sequence[scheduler.Task], wanted: Container[str] | None = None) -> dict[str, Kin]:
    """By task id, for tasks in the order of the queue; of those that are `wanted`, None for all."""
    totals: Counter[int] = Counter()
    own: Counter[tuple[int, str]] = Counter()
    numbers: dict[Hashable, int] = {}
    found: list[tuple[str, int, int, int]] = []
    for task in queue:
        kind = numbers.setdefault(_kind(task), len(numbers))
        key = kind, task.organisation
        if wanted is None or task.id in wanted:
            found.append((task.id, kind, totals[kind], own[key]))
        totals[kind] += 1
        own[key] += 1
    return {task: Kin(ahead + 1, totals[kind], mine) for task, kind, ahead, mine in found}


def _kind(task: scheduler.Task) -> Hashable:
    gpu = task.gpu
    return None if gpu is None else (gpu.mode.value, gpu.model, gpu.any_of, gpu.profile)


def _kin(kin: Kin) -> Json:
    return {"position": kin.position, "total": kin.total, "own_ahead": kin.own_ahead}


def explanation_of(wait: scheduler.Wait, organisation: str, *, known: bool, kin: Kin | None = None) -> Json:
    """Cause and its numbers, funnel, position, what those ahead need, nearest miss, estimate, holders, alternatives,
    reserved nodes.

    `organisation` owns the task. `known`: everything has an estimate. Otherwise the start is left out where it rests on
    an end that nobody can estimate: a guess would be taken for a promise. So would room that is kept on a guess: others
    use it meanwhile, and nothing says it is kept.
    """
    known = known or wait.is_start_known
    hidden = _OTHERS if known else _OTHERS | _ESTIMATES
    return {
        "cause": wait.cause.code.value,
        "params": {name: value for name, value in wait.cause.params.items() if name not in hidden},
        "funnel": [{"name": step.name, "count": step.count} for step in wait.funnel],
        "position": wait.position,
        "kin": _kin(kin) if kin else None,
        "nearest": asdict(wait.nearest) if wait.nearest else None,
        "start_p50": wait.start_p50 if known else None,
        "start_p90": wait.start_p90 if known else None,
        "holders": holders_of(wait.holders, organisation),
        "alternatives": [_alternative(other) for other in wait.alternatives],
        "ahead": asdict(wait.ahead) if wait.ahead else None,
        "reserved": [] if wait.guessed else list(wait.reserved_nodes),
    }


# Parameters of causes that may name another tenant's task.
_OTHERS = frozenset({"for_task"})
# Parameters that tell when something should start.
_ESTIMATES = frozenset({"start_p50", "start_p90"})


def has_history(view: scheduler.Snapshot) -> bool:
    """Whether everything that waits or runs has an estimated duration."""
    tasks = (*view.waiting, *(member.task for member in view.running))
    return all(task.estimate_p50_s is not None for task in tasks)


def holders_of(holders: Iterable[scheduler.Holder], organisation: str) -> list[Json]:
    """One's own organisation's tasks by id; those of others only as sums, by whether they may give way and why not."""
    mine: list[Json] = []
    others: defaultdict[tuple[bool, str], list[scheduler.Holder]] = defaultdict(list)
    for holder in holders:
        if holder.organisation == organisation:
            mine.append({"task": holder.task_id, **_held([holder])})
        else:
            others[holder.may_yield, holder.why].append(holder)
    return mine + [_held(group) for group in others.values()]


def _held(holders: list[scheduler.Holder]) -> Json:
    """Sums over holders that may or may not yield for the same reason; the first end p50 to the last p90."""
    firsts, lasts = [holder.end_p50 for holder in holders], [holder.end_p90 for holder in holders]
    return {
        "tasks": len(holders),
        "gpu_milli": sum(holder.gpu_milli for holder in holders),
        "end_p50": min((end for end in firsts if end is not None), default=None),
        "end_p90": max((end for end in lasts if end is not None), default=None) if None not in lasts else None,
        "may_yield": holders[0].may_yield,
        "why": holders[0].why,
    }


def _alternative(other: scheduler.Alternative) -> Json:
    return {"gpu": asdict(other.gpu) if other.gpu else None, "node": other.node_id, "members": other.members}
