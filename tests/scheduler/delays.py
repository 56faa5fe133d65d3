"""Whether one more task on a node would delay those that wait for it: worked out over time, one node at a time.

Written without the timeline that the engine uses: members leave at their p50, the others come one after the other.
"""

import math
from collections.abc import Mapping, Sequence

from scheduler import Engine, Task, Wait
from scheduler.demand import demand_of, least_members
from scheduler.horizon import expected_ends
from scheduler.host import host_of
from scheduler.roster import Member


def delays_somebody(
    engine: Engine, row: int, now: float, task: Task, waits: Sequence[Wait], tasks: Mapping[str, Task]
) -> bool:
    """Whether one of `waits` whose start is known would start later if `task` started on the row now.

    True as well where a gang waits for the row: how many of its members are to come there is not said.
    """
    name = engine.cells.nodes[row].id
    ahead = [wait for wait in waits if wait.task_id != task.id and name in wait.reserved_nodes]
    known = [wait for wait in ahead if not _is_guess(engine.roster.on_row.get(row, ()), wait, now)]
    known.sort(key=lambda wait: wait.start_p50 or now)
    others = [tasks[wait.task_id] for wait in known]
    if any(least_members(other) > 1 for other in others):
        return True
    without, beside = (_starts(engine, row, now, others, extra) for extra in (None, task))
    return any(late > early for early, late in zip(without, beside, strict=True))


def _is_guess(members: Sequence[Member], wait: Wait, now: float) -> bool:
    """Whether it waits for the end of a member that has no estimate, or is past it."""
    start = wait.start_p50 or now
    leaving = [member for member in members if expected_ends(member.task, member.started_at, now)[0] <= start]
    return start > now and any(now - m.started_at > _known_p90(m.task) for m in leaving)


def _known_p90(task: Task) -> float:
    """Below everything for a task of whose end nothing is known, or nothing but its owner's word."""
    return -math.inf if task.estimate_p90_s is None or task.unproven else task.estimate_p90_s


def _starts(engine: Engine, row: int, now: float, others: Sequence[Task], extra: Task | None) -> list[float]:
    """When each of the others starts, none before the one ahead of it; with `extra` there from now on."""
    host, at, starts = host_of(engine.cells, row), now, list[float]()
    leaving = [(expected_ends(m.task, m.started_at, now)[0], m.claim) for m in engine.roster.on_row.get(row, ())]
    for task in (extra, *others):
        if task is None:
            continue
        while (claim := host.fits(demand_of(task))) is None and leaving:
            leaving.sort(key=lambda event: event[0])
            end, gone = leaving.pop(0)
            at = max(at, end)
            host.give_back(gone)
        if task is not extra:
            starts.append(at if claim is not None else math.inf)
        if claim is not None:
            host.take(claim)
            leaving += [(at + _known_p90(task), claim)] if _known_p90(task) > 0 else []
    return starts
