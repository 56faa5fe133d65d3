"""Shells and commands: a channel of the client's on one side, a process inside the environment on the other."""

import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

import asyncssh
from django.utils.translation import gettext as _

from apps.common.actor import Actor, Channel, system_actor
from apps.common.errors import Conflict, DomainError, NotFound, Unavailable
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.ssh import session_auth
from apps.envs.ssh.channel_pump import ChannelPump
from apps.envs.ssh.session_auth import Guest, Kind
from apps.envs.ssh.workers import in_thread
from apps.tenants.models import User
from apps.workloads import reach
from apps.workloads.activity import Recorder
from apps.workloads.drivers.streams import ExecStream
from apps.workloads.models import Workload
from apps.workloads.terminal import sessions as terminals

ACCEPTED_VARIABLES = ("LANG", "COLORTERM")
# In the user's own shell, from the home, whatever the workload's working directory is.
_CHOOSE = 'cd; [ -x "$SHELL" ] || SHELL=/bin/sh; exec "$SHELL"'
SHELL = ("sh", "-c", f"{_CHOOSE} -l")
COMMAND = ("sh", "-c", f'{_CHOOSE} -c "$0"')
# Of other work: beside its program, in its working directory and with its variables.
PROGRAM_COMMAND = ("sh", "-c")

# A shell that was killed: was it the end of the whole program?
END_OF_ALL_S = 1.0


def start(guest: Guest, argv: tuple[str, ...], tty: bool, env: Mapping[str, str]) -> tuple[UUID, ExecStream]:
    """Start the process; returns the workload's id and its stream. Raises DomainError with a sentence."""
    actor = session_auth.actor_of(guest)
    with acting(actor):
        if guest.kind is Kind.PROGRAM:
            workload = terminals.visible_workload(actor, guest.id)
            stream = reach.exec(actor, workload, argv, tty, env, rank=guest.rank)
            terminals.record_opened(actor, workload, guest.rank)
            return workload.pk, stream
        environment = Environment.objects.select_related("workload").get(pk=guest.id)
        if environment.workload is None or not environment.workload.is_live:
            raise Conflict(_("%(name)s is stopped.") % {"name": environment.name})
        return environment.workload.pk, reach.exec(actor, environment.workload, argv, tty, env)


async def serve(process: "asyncssh.SSHServerProcess[bytes]", guest: Guest, recorder: Recorder) -> None:
    """One session channel, from its request to the exit status."""
    if guest.kind is Kind.VOLUME:
        return _refuse(process, _("%(name)s is a volume: it has files, and no shell. Use sftp or scp."), guest)
    command, tty = process.command, process.term_type is not None
    try:
        workload_id, stream = await in_thread(start, guest, _argv(guest, command), tty, _variables(process))
    except DomainError as error:
        if guest.kind is Kind.PROGRAM:
            return _refuse(process, _no_such_rank(guest) if isinstance(error, NotFound) else str(error.message), guest)
        hint = _("Files can be fetched and sent all the same, by sftp or scp. Start it in the portal for a shell.")
        return _refuse(process, f"{error.message}\n{hint}", guest)
    began = time.monotonic()
    recorder.opened(workload_id)
    carrier = ChannelPump(
        stream, process.stdin, process.stdout, process.stderr, lambda: recorder.requested(workload_id, typed=True)
    )
    try:
        _resize(stream, process.term_size[0], process.term_size[1])
        await carrier.run(lambda event: _hear(stream, event))
        _exit(process, guest, await in_thread(_code_to_tell, guest, workload_id, stream.wait(0)))
    finally:
        recorder.closed(workload_id)
        await in_thread(stream.close)
        if guest.kind is Kind.PROGRAM:
            await in_thread(_record_closed, guest, time.monotonic() - began)


def _argv(guest: Guest, command: str | None) -> tuple[str, ...]:
    if guest.kind is Kind.PROGRAM:
        return terminals.SHELL if command is None else (*PROGRAM_COMMAND, command)
    return SHELL if command is None else (*COMMAND, command)


def _record_closed(guest: Guest, seconds: float) -> None:
    """Who it was at the beginning: by its end their rights may be gone."""
    user = User.objects.get(pk=guest.user_id)
    actor = Actor(user_id=user.pk, organisation_id=guest.organisation_id, label=user.display_name,
                  channel=Channel.SSH, address=guest.address)  # fmt: skip
    with acting(system_actor()):
        workload = Workload.objects.get(pk=guest.id)
        terminals.record_closed(actor, workload, guest.rank, seconds=seconds, why="ssh")


def _no_such_rank(guest: Guest) -> str:
    return _("%(name)s has no member of rank %(rank)s.") % {"name": guest.name, "rank": guest.rank}


def _refuse(process: "asyncssh.SSHServerProcess[bytes]", text: str, guest: Guest) -> None:
    words = text % {"name": guest.name} if "%(name)s" in text else text
    process.stderr.write(words.replace("\n", "\r\n").encode() + b"\r\n")
    process.exit(1)


def _variables(process: "asyncssh.SSHServerProcess[bytes]") -> dict[str, str]:
    """The variables that OpenSSH's server sets, and those of the client that only choose language and colours."""
    address, port = process.get_extra_info("peername")[:2]
    own_address, own_port = process.get_extra_info("sockname")[:2]
    found = {
        "SSH_CLIENT": f"{address} {port} {own_port}",
        "SSH_CONNECTION": f"{address} {port} {own_address} {own_port}",
    }
    for name, value in process.env.items():
        if name in ACCEPTED_VARIABLES or name.startswith("LC_"):
            found[name] = value
    if process.term_type is not None:
        found["TERM"] = process.term_type
    return {name: value for name, value in found.items() if "\0" not in value}


def _hear(stream: ExecStream, event: Exception) -> None:
    """Handle a client's event other than bytes."""
    if isinstance(event, asyncssh.TerminalSizeChanged):
        _resize(stream, event.width, event.height)
    elif isinstance(event, asyncssh.SignalReceived):
        number = getattr(signal, f"SIG{event.signal}", None)
        if isinstance(number, signal.Signals):
            stream.signal(number)
    elif isinstance(event, asyncssh.BreakReceived):
        stream.signal(signal.SIGINT)


def _resize(stream: ExecStream, columns: int, rows: int) -> None:
    if columns and rows:
        with suppress(OSError):
            stream.resize(rows, columns)


def _code_to_tell(guest: Guest, workload_id: UUID, code: int | None) -> int | None:
    """None: it ended with the whole program, which kills what runs beside it and may be gone a moment later."""
    if code not in (-signal.SIGKILL, -signal.SIGTERM):
        return code
    deadline = time.monotonic() + END_OF_ALL_S
    with acting(system_actor()), suppress(Unavailable):
        while time.monotonic() < deadline:
            if not reach.still_runs(Workload.objects.get(pk=workload_id), guest.rank):
                return None
            time.sleep(END_OF_ALL_S / 10)
    return code


def _exit(process: "asyncssh.SSHServerProcess[bytes]", guest: Guest, code: int | None) -> None:
    if code is None:
        is_program = guest.kind is Kind.PROGRAM
        text = _("The program has ended.") if is_program else _("The environment has ended.")
        process.stderr.write(text.encode() + b"\r\n")
        process.exit(255)
    elif code >= 0:
        process.exit(code)
    else:
        process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
