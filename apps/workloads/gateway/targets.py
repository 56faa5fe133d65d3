"""Where a visitor's requests go now, or what is being waited for."""

from dataclasses import dataclass
from enum import StrEnum

from apps.common.errors import Conflict, Unavailable
from apps.common.scoping import acting
from apps.workloads import reach
from apps.workloads.choices import TERMINAL, Status
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.gateway.passes import Visitor


class State(StrEnum):
    READY = "ready"
    WAITING = "waiting"  # for a node, or for its start
    STARTING = "starting"  # it runs, but nothing listens on the port yet
    ENDED = "ended"
    UNSEEN = "unseen"  # its machine cannot be asked


@dataclass(frozen=True, slots=True)
class Target:
    """`endpoint` is set exactly when ready."""

    state: State
    endpoint: Endpoint | None = None


def locate(visitor: Visitor) -> Target:
    """The target of the visitor's port as its driver sees it now."""
    if visitor.workload.status in TERMINAL | {Status.STOPPING}:
        return Target(State.ENDED)
    try:
        with acting(visitor.actor):
            return Target(State.READY, reach.endpoint(visitor.actor, visitor.workload, visitor.port))
    except reach.NotListening:
        return Target(State.STARTING)
    except Unavailable:
        return Target(State.UNSEEN)
    except Conflict:
        return Target(State.WAITING)
