"""The program's container, as its shim sees it. Standard library only."""

import json
import os
import re
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from apps.workloads.drivers.kubernetes.pod.places import SOCKET

LOOK_AGAIN_S = 0.1
ANSWER_S = 10.0
MAX_TOLD = 1024 * 1024
_FIELD = re.compile(r"^(\S+) (\d+)$", re.M)


def enter(tick: Callable[[], None]) -> "Entry":
    """Waits until the container's first process is there; `tick` may raise to give up. Raises OSError."""
    while True:
        tick()
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(SOCKET)
        except OSError:
            connection.close()
            time.sleep(LOOK_AGAIN_S)
        else:
            return _met(connection)


def _met(connection: socket.socket) -> "Entry":
    connection.settimeout(ANSWER_S)
    data, descriptors, _, _ = socket.recv_fds(connection, MAX_TOLD, 8)
    while data and not data.endswith(b"\n"):
        data += connection.recv(MAX_TOLD)
    told = json.loads(data)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    counters = dict(zip(told["counters"], descriptors, strict=False))
    return Entry(connection, told["env"], told["workdir"], Counters(told["version"], counters))


@dataclass(slots=True)
class Counters:
    """What the kernel counts for the container, read through descriptors: stands in for `cgroups.Group`."""

    version: int
    files: Mapping[str, int]
    limits: frozenset[str] = frozenset({"memory", "cpu"})

    def join(self) -> None:
        """Who is to be in it is in it."""

    def end_all(self, within_s: float) -> bool:
        """The first process ends all others as it ends itself."""
        return True

    def remove(self) -> None:
        """It is the cluster's."""

    def memory_bytes(self) -> int:
        charged = int(self._read("memory") or 0)
        key = "inactive_file" if self.version == 2 else "total_inactive_file"
        return max(0, charged - self._fields("stat").get(key, 0))

    def out_of_memory_kills(self) -> int:
        return self._fields("events").get("oom_kill", 0)

    def cpu_seconds(self) -> float | None:
        if self.version == 2:
            used = self._fields("cpu").get("usage_usec")
            return None if used is None else used / 1e6
        text = self._read("cpu")
        return int(text) / 1e9 if text else None

    def _fields(self, name: str) -> dict[str, int]:
        return {key: int(value) for key, value in _FIELD.findall(self._read(name))}

    def _read(self, name: str) -> str:
        """Nothing once the container is gone."""
        if name not in self.files:
            return ""
        with suppress(OSError):
            return os.pread(self.files[name], 65536, 0).decode()
        return ""


@dataclass(slots=True)
class Entry:
    """`env`, `workdir`: what the image says. Asked by one thread at a time."""

    connection: socket.socket
    env: Mapping[str, str] = field(repr=False)
    workdir: str
    counters: Counters

    def start(self, channel: socket.socket, listener: socket.socket, output: int, limits: Mapping[str, int]) -> None:
        """Hand over what the first process is to serve. Raises OSError."""
        message = json.dumps({"limits": dict(limits)}).encode()
        socket.send_fds(self.connection, [message], [channel.fileno(), listener.fileno(), output])

    def signal(self, number: signal.Signals) -> None:
        """To all of the container's processes but the first."""
        self._tell({"signal": int(number)})

    def count(self) -> int:
        """How many there are beside the first; none once it is gone."""
        return self._asked("count")

    def deleted_bytes(self) -> int:
        """Of files that have no name any more and that its processes hold."""
        return self._asked("deleted")

    def _asked(self, what: str) -> int:
        """0 once it is gone."""
        try:
            self._tell({what: True})
            data = b""
            while not data.endswith(b"\n"):
                more = self.connection.recv(4096)
                if not more:
                    return 0
                data += more
            found: dict[str, Any] = json.loads(data.splitlines()[-1])
            return int(found[what])
        except (OSError, ValueError):
            return 0

    def wait(self, timeout_s: float = ANSWER_S) -> None:
        """Until the container's first process has gone, or for so long."""
        deadline = time.monotonic() + timeout_s
        with suppress(OSError):
            while (left := deadline - time.monotonic()) > 0:
                if select.select([self.connection], [], [], left)[0] and not self.connection.recv(4096):
                    return

    def _tell(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):
            self.connection.sendall(json.dumps(message).encode() + b"\n")
