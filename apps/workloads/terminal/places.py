"""How a person gets a terminal in a running program: for pages and the API."""

from dataclasses import dataclass

from apps.common.actor import Actor
from apps.tenants.models import SshKey
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.permissions import is_terminal_user
from apps.workloads.programs import program_at
from apps.workloads.terminal.address import ssh_host, ssh_port
from apps.workloads.terminal.names import ssh_name


@dataclass(frozen=True, slots=True)
class TerminalPlace:
    """`socket`: path of the WebSocket. `ssh`, `ssh_port`: commands; "" where SSH is switched off."""

    rank: int
    socket: str
    ssh: str
    ssh_port: str
    has_key: bool


def terminal_place(
    actor: Actor, workload: Workload, attempt: Attempt | None, rank: int, host: str
) -> TerminalPlace | None:
    """None while the program of this rank does not run, and for anybody but its owner. `host`: the browser's."""
    program = program_at(attempt, rank) if attempt is not None and attempt.started_at else None
    runs = program is not None and program.handle is not None and program.ended_at is None
    if not runs or workload.status != Status.RUNNING or not is_terminal_user(actor, workload):
        return None
    name, port = f"{ssh_name(workload, rank)}@{ssh_host(host)}", ssh_port()
    return TerminalPlace(
        rank=rank,
        socket=f"/ws/terminals/{workload.pk}/?rank={rank}",
        ssh=f"ssh {name} -p {port}" if port else "",
        ssh_port=f"ssh {name} -p {port} -N -L 6006:localhost:6006" if port else "",
        has_key=SshKey.objects.filter(user_id=actor.person()).exists(),
    )
