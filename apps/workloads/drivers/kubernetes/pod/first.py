"""The first process of the program's container: waits for the shim, and runs what that sends. Standard library only.

On the connection that the shim opens, it is told the environment and the working directory of the image, with
descriptors of what the kernel counts for this container; then the shim sends the descriptors of the channel, of the
exec socket and of the output, of which `init` knows. Later lines on that connection ask for what only somebody in here
can do: `{"signal": number}` to all other processes, `{"count": true}` for how many there are, `{"deleted": true}` for
the bytes of files without a name that they hold.
"""

import json
import os
import resource
import selectors
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from apps.workloads.drivers.kubernetes.pod.places import SOCKET
from apps.workloads.drivers.local.disk_usage import deleted_bytes
from apps.workloads.drivers.local.environment import SANDBOX_TMP
from apps.workloads.drivers.local.init import Init, send

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from apps.workloads.drivers.kubernetes.pod import first; first.main()"
)
MAX_MESSAGE = 64 * 1024
# By the controller of version 1, or of version 2 below the root; see `local.cgroups`.
COUNTERS = {
    1: {
        "memory": "memory/memory.usage_in_bytes",
        "stat": "memory/memory.stat",
        "events": "memory/memory.oom_control",
        "cpu": "cpuacct/cpuacct.usage",
    },
    2: {"memory": "memory.current", "stat": "memory.stat", "events": "memory.events", "cpu": "cpu.stat"},
}
GROUPS = "/sys/fs/cgroup"


def main() -> None:
    os.umask(0o022)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the end is the shim's to order, with the grace that was asked for
    shim = meet()
    command = receive(shim)
    first = First(*command)
    first.obey_shim(shim)
    first.run()


def meet() -> socket.socket:
    """The shim, once it has come; nobody comes after it."""
    door = socket.socket(socket.AF_UNIX)
    with suppress(FileNotFoundError):
        os.unlink(SOCKET)
    door.bind(SOCKET)
    door.listen(1)
    shim, _ = door.accept()
    door.close()
    os.unlink(SOCKET)
    version, files = counters()
    told = {"env": dict(os.environ), "workdir": os.getcwd(), "version": version, "counters": list(files)}
    socket.send_fds(shim, [json.dumps(told).encode() + b"\n"], list(files.values()) or [0])
    for descriptor in files.values():
        os.close(descriptor)
    return shim


def counters() -> tuple[int, dict[str, int]]:
    """Of this container's control group, opened before any program could put something else in their place."""
    version = 2 if os.path.exists(f"{GROUPS}/cgroup.controllers") else 1
    found: dict[str, int] = {}
    for name, path in COUNTERS[version].items():
        with suppress(OSError):
            found[name] = os.open(f"{GROUPS}/{path}", os.O_RDONLY | os.O_CLOEXEC)
    return version, found


def receive(shim: socket.socket) -> tuple[socket.socket, socket.socket, dict[str, Any]]:
    """The channel, the exec socket, and the command; from here on, what is printed goes to the log."""
    data, descriptors, _, _ = socket.recv_fds(shim, MAX_MESSAGE, 3)
    if len(descriptors) != 3:  # it ended before there was anything to run
        sys.exit(0)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    for name, value in json.loads(data)["limits"].items():
        limit = getattr(resource, name)
        resource.setrlimit(limit, (value, value))
    channel, listener = (socket.socket(fileno=descriptor) for descriptor in descriptors[:2])
    for target in (1, 2):
        os.dup2(descriptors[2], target)
    os.close(descriptors[2])
    return channel, listener, json.loads(channel.makefile("r", encoding="utf-8").readline())


def others() -> list[int]:
    """All processes here but this one."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def scratch() -> frozenset[int]:
    """The file systems on disk that go with the pod."""
    return frozenset({os.stat(SANDBOX_TMP).st_dev})


class First(Init):
    """Beside what any first process does, it is the shim's hand in here."""

    shim: socket.socket
    asked = b""

    def obey_shim(self, shim: socket.socket) -> None:
        self.shim = shim
        shim.setblocking(False)
        self.selector.register(shim, selectors.EVENT_READ, self.answer)

    def answer(self, _events: int) -> None:
        try:
            data = self.shim.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.is_over = True
            return
        *lines, self.asked = (self.asked + data).split(b"\n")
        for line in lines:
            asked = json.loads(line)
            if "signal" in asked:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(-1, int(asked["signal"]))
            if "count" in asked:
                send(self.shim, {"count": len(others())})
            if "deleted" in asked:
                send(self.shim, {"deleted": deleted_bytes(others(), scratch())})


if __name__ == "__main__":
    main()
