"""Going on with another package, whatever it is that waits: each kind of work has its own way to do so."""

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.workloads.kinds import kind_of
from apps.workloads.models import Workload


def start_instead(actor: Actor, workload: Workload, *, package_id: int, key: str) -> Workload:
    """The workload that starts in the place of one that waits; see the kinds' own services for what it raises.

    `NotFound` for a kind that has no way.
    """
    way = kind_of(workload).start_instead
    if way is None:
        raise NotFound
    return way(actor, workload, package_id, key)
