"""Local forwards (`ssh -L`, VS Code's tunnel): to the environment's own loopback, through a process inside it."""

from functools import partial
from typing import Any
from uuid import UUID

import asyncssh

from apps.common.errors import DomainError
from apps.envs.ssh import sessions
from apps.envs.ssh.channel_pump import ChannelPump
from apps.envs.ssh.session_auth import Guest, Kind
from apps.envs.ssh.workers import in_thread
from apps.workloads.activity import Recorder
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.drivers.streams import ExecStream

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Standard input and output to and from a port of the loopback, or where nothing listens there of the socket that
# stands for it, as JupyterLab's does. Each half ends for itself.
RELAY = """
import os, socket, sys, threading
try:
    peer = socket.create_connection(("localhost", int(sys.argv[1])), 10)
    peer.settimeout(None)
except OSError:
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(f"{os.environ['PLSTACK_PORTS']}/{sys.argv[1]}.sock")
def inward():
    while data := os.read(0, 65536):
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
sender = threading.Thread(target=inward, daemon=True)
sender.start()
while data := peer.recv(65536):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]
os.close(1)
sender.join()
"""


def check_target(guest: Guest, host: str, port: int) -> None:
    """Raises `ChannelOpenError` for anything but a port inside the environment."""
    if guest.kind is Kind.VOLUME or host not in LOOPBACK or not 0 < port < 65536:
        raise asyncssh.ChannelOpenError(
            asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "Only ports of the environment's own loopback are forwarded"
        )


def _start(guest: Guest, port: int) -> tuple[UUID, ExecStream]:
    """In a container image, which may have no Python, on that of its machine. Raises DomainError."""
    return sessions.start(guest, (MACHINE_PYTHON, "-I", "-S", "-c", RELAY, str(port)), False, {})


async def forward(guest: Guest, port: int, recorder: Recorder, reader: Any, writer: Any) -> None:
    """One forwarded connection, between the two ends of its channel."""
    try:
        workload_id, stream = await in_thread(_start, guest, port)
    except DomainError:
        writer.close()
        return
    recorder.opened(workload_id)
    try:
        typed = partial(recorder.requested, workload_id, typed=True)
        await ChannelPump(stream, reader, writer, None, typed, tell_end=True).run()
    finally:
        recorder.closed(workload_id)
        writer.close()
        await in_thread(stream.close)
