"""A check on a pass, not a part of it: whether it left somebody waiting whom nothing that is known keeps from starting.

A pass decides one task after the other, and what each of them keeps free may, by a fault of its rules, keep all of them
waiting for each other. Here every task is looked at by itself, against what is free once the pass is over.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.allocator import Allocator
from scheduler.decisions import CauseCode, Wait
from scheduler.demand import demand_of, least_members
from scheduler.roster import Roster
from scheduler.types import Task

# Of those: a quota forbids it; it has asked others to leave; it will never fit.
ELSEWHERE = {CauseCode.QUOTA, CauseCode.WAITING_FOR_VICTIMS, CauseCode.BAD_REQUEST, CauseCode.NEVER_FITS}
MOST_LOOKED_AT = 1000


def standing_still(
    allocator: Allocator, roster: Roster, waits: Sequence[Wait], tasks: Mapping[str, Task], now: float
) -> tuple[str, ...]:
    """Tasks of one member that would fit on a node now, where room is kept for nobody or for such as could start too.

    Right after a pass that placed nobody and asked nobody to leave; with room that others are just leaving, a task may
    be named that only the next pass can place. The first `MOST_LOOKED_AT` in the order of the queue are looked at.
    """
    starts: defaultdict[str, list[tuple[str, float | None]]] = defaultdict(list)
    for wait in waits:
        for node in () if wait.guessed else wait.reserved_nodes:
            starts[node].append((wait.task_id, wait.start_p50))
    leaving = {member.claim.row for member in roster.leaving()}

    def is_open(row: int, task_id: str) -> bool:
        others = (start for other, start in starts[allocator.cells.nodes[row].id] if other != task_id)
        return row not in leaving and all(start is not None and start <= now for start in others)

    found: list[str] = []
    for wait in waits[:MOST_LOOKED_AT]:
        task = tasks[wait.task_id]
        if wait.cause.code in ELSEWHERE or least_members(task) > 1:
            continue
        column = allocator.column(demand_of(task))
        column.refresh()
        if any(is_open(row, task.id) for row in np.flatnonzero(column.score >= 0).tolist()):
            found.append(task.id)
    return tuple(found)
