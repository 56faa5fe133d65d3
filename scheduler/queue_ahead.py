"""How many cards the tasks ahead of a waiting one need together with it, and how many of those are free."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from scheduler.decisions import Ahead, CauseCode
from scheduler.demand import Demand
from scheduler.types import Mode

# What waits for these takes no card when one falls free.
NOT_FOR_CARDS = frozenset(
    {
        CauseCode.BAD_REQUEST,
        CauseCode.QUOTA,
        CauseCode.NO_NODES,
        CauseCode.ZONE,
        CauseCode.CLUSTER,
        CauseCode.RESERVED,
        CauseCode.ARCH,
        CauseCode.RDMA,
        CauseCode.NO_SUCH_MODEL,
        CauseCode.NO_SUCH_MODE,
        CauseCode.NEVER_FITS,
        CauseCode.NODE_UNSCHEDULABLE,
        CauseCode.NODE_UNHEALTHY,
        CauseCode.RDMA_DOWN,
    }
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task in the order of the queue: what a member requests, how many start together, and why it waits."""

    demand: Demand
    members: int
    cause: CauseCode


def ahead_of_each(queue: Iterable[Waiting], free: Callable[[Demand], int]) -> list[Ahead | None]:
    """For each task of the queue; None where it waits for something else than whole cards.

    Those ahead are counted where they want cards of the same models, in the same place: `free` (how many such cards
    are free) is asked once for each of these. Fewer than `Ahead.short` cards can never start all of them.
    """
    sums: dict[Hashable, tuple[int, int]] = {}
    known: dict[Hashable, int] = {}
    found: list[Ahead | None] = []
    for one in queue:
        gpu = one.demand.gpu
        if gpu is None or gpu.mode is not Mode.WHOLE or one.cause in NOT_FOR_CARDS:
            found.append(None)
            continue
        place = one.demand.zone, one.demand.cluster, one.demand.archs, one.demand.rdma
        key = (gpu.model, gpu.any_of, *place, one.demand.entitled)
        tasks, cards = sums.get(key, (0, 0))
        if key not in known:
            known[key] = free(one.demand)
        cards += gpu.count * one.members
        found.append(Ahead(tasks, cards, known[key]))
        sums[key] = tasks + 1, cards
    return found
