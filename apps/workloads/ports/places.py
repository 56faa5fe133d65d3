"""The ports of some work as a page shows them: what they are, whether a program serves there, who may open them."""

from dataclasses import dataclass
from enum import StrEnum

from django.urls import reverse

from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Unavailable
from apps.workloads import reach
from apps.workloads.models import Workload
from apps.workloads.permissions import is_terminal_user, may_open_port
from apps.workloads.ports.declaring import own_ports
from apps.workloads.ports.sharing import shared_names
from apps.workloads.spec import Port


class PortState(StrEnum):
    LISTENING = "listening"
    SILENT = "silent"  # it runs, and nothing listens there yet
    NOT_RUNNING = "not_running"
    UNKNOWN = "unknown"  # its machine does not answer


@dataclass(frozen=True, slots=True)
class PortPlace:
    """`url`: where it is opened, for who may. `own`: whether the actor may share it."""

    port: Port
    state: PortState
    url: str
    shared: bool
    own: bool


def port_places(actor: Actor, workload: Workload) -> list[PortPlace]:
    """Of the ports that people named, those that the actor may open; tools have buttons of their own."""
    ports = own_ports(workload.frozen_spec.ports)
    shared = shared_names(workload) if ports else set()
    is_owner = is_terminal_user(actor, workload)
    return [
        PortPlace(
            port=port,
            state=_state(actor, workload, port),
            url=reverse("open_port", args=[workload.pk, port.name]),
            shared=port.name in shared,
            own=is_owner,
        )
        for port in ports
        if _may_open(actor, workload, port)
    ]


def _may_open(actor: Actor, workload: Workload, port: Port) -> bool:
    try:
        may_open_port(actor, workload, port.name)
    except DomainError:
        return False
    return not actor.platform


def _state(actor: Actor, workload: Workload, port: Port) -> PortState:
    try:
        reach.endpoint(actor, workload, port.name)
    except reach.NotListening:
        return PortState.SILENT
    except Conflict:
        return PortState.NOT_RUNNING
    except Unavailable:
        return PortState.UNKNOWN
    return PortState.LISTENING
