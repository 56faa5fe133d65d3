"""Check after a pass, not as a part of it, whether it left a task waiting without any known reason.

A pass decides one task after the other, and by a fault of its rules the reservations of several tasks may block all of
them. This check looks at every task by itself, with the capacity that is free after the pass.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.allocator import Allocator
from scheduler.decisions import CauseCode, Wait
from scheduler.demand import demand_of, least_members
from scheduler.roster import Roster
from scheduler.types import Task

# Causes other than missing room: a quota, victims that are leaving, a bad request, or a size that never fits.
OTHER_CAUSES = {CauseCode.QUOTA, CauseCode.WAITING_FOR_VICTIMS, CauseCode.BAD_REQUEST, CauseCode.NEVER_FITS}
MOST_LOOKED_AT = 1000


def standing_still(
    allocator: Allocator, roster: Roster, waits: Sequence[Wait], tasks: Mapping[str, Task], now: float
) -> tuple[str, ...]:
    """Tasks of one member that fit now on a node without reservations, or only with ones that could start now too.

    Call it right after a pass that placed nobody and asked nobody to leave: while others are just leaving, it may name
    a task that only the next pass can place. It checks the first `MOST_LOOKED_AT` tasks in the order of the queue.
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
        if wait.cause.code in OTHER_CAUSES or least_members(task) > 1:
            continue
        column = allocator.column(demand_of(task))
        column.refresh()
        if any(is_open(row, task.id) for row in np.flatnonzero(column.score >= 0).tolist()):
            found.append(task.id)
    return tuple(found)
