"""Shells and commands: a channel of the client's on one side, a process inside the environment on the other."""

import signal
from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

import asyncssh
from django.utils.translation import gettext as _

from apps.common.errors import Conflict, DomainError
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.ssh import session_auth
from apps.envs.ssh.channel_pump import Carrier
from apps.envs.ssh.session_auth import Guest, Kind
from apps.envs.ssh.workers import in_thread
from apps.workloads import reach
from apps.workloads.activity import Recorder
from apps.workloads.drivers.streams import ExecStream

ACCEPTED_VARIABLES = ("LANG", "COLORTERM")
# In the user's own shell, from the home, whatever the workload's working directory is.
SHELL = ("sh", "-c", 'cd; exec "${SHELL:-/bin/sh}" -l')
COMMAND = ("sh", "-c", 'cd; exec "${SHELL:-/bin/sh}" -c "$0"')


def start(guest: Guest, argv: tuple[str, ...], tty: bool, env: Mapping[str, str]) -> tuple[UUID, ExecStream]:
    """The process, and the id of the workload that it runs in. Raises DomainError, in words for the person."""
    actor = session_auth.actor_of(guest)
    with acting(actor):
        environment = Environment.objects.select_related("workload").get(pk=guest.id)
        if environment.workload is None or not environment.workload.is_live:
            raise Conflict(_("%(name)s is stopped.") % {"name": environment.name})
        return environment.workload.pk, reach.exec(actor, environment.workload, argv, tty, env)


async def serve(process: "asyncssh.SSHServerProcess[bytes]", guest: Guest, recorder: Recorder) -> None:
    """One session channel, from its request to the exit status."""
    if guest.kind is Kind.VOLUME:
        return _refuse(process, _("%(name)s is a volume: it has files, and no shell. Use sftp or scp."), guest)
    command, tty = process.command, process.term_type is not None
    argv = SHELL if command is None else (*COMMAND, command)
    try:
        workload_id, stream = await in_thread(start, guest, argv, tty, _variables(process))
    except DomainError as error:
        hint = _("Files can be fetched and sent all the same, by sftp or scp. Start it in the portal for a shell.")
        return _refuse(process, f"{error.message}\n{hint}", guest)
    recorder.opened(workload_id)
    carrier = Carrier(
        stream, process.stdin, process.stdout, process.stderr, lambda: recorder.requested(workload_id, typed=True)
    )
    try:
        _resize(stream, process.term_size[0], process.term_size[1])
        await carrier.run(lambda event: _hear(stream, event))
        _exit(process, stream.wait(0))
    finally:
        recorder.closed(workload_id)
        await in_thread(stream.close)


def _refuse(process: "asyncssh.SSHServerProcess[bytes]", text: str, guest: Guest) -> None:
    words = text % {"name": guest.name} if "%(name)s" in text else text
    process.stderr.write(words.replace("\n", "\r\n").encode() + b"\r\n")
    process.exit(1)


def _variables(process: "asyncssh.SSHServerProcess[bytes]") -> dict[str, str]:
    """What OpenSSH's server sets, and of the client's wishes those that only choose words and colours."""
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
    """What the client tells besides bytes."""
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


def _exit(process: "asyncssh.SSHServerProcess[bytes]", code: int | None) -> None:
    if code is None:
        process.stderr.write(_("The environment has ended.").encode() + b"\r\n")
        process.exit(255)
    elif code >= 0:
        process.exit(code)
    else:
        process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
