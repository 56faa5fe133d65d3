"""Ports for servers that tests start."""

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

LOWEST = 10_000
# Of this one on the kernel gives them to whoever connects, or binds to any.
GIVEN_AWAY = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """One on which nobody listens, and which the kernel gives to nobody before the server that it is for has it."""
    first = int(GIVEN_AWAY.read_text().split()[0])
    while True:
        port = LOWEST + secrets.randbelow(first - LOWEST)  # `random` begins alike in all processes of a suite
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("", port))
            return port


def own_port(number: int) -> int:
    """A port that a program names itself, another one in each process of a suite: at the lowest isolation level, work
    has the network of its machine.
    """
    return number + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
