"""What the contract suite needs of a driver: somewhere to run, and words to write a test in."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import Exit, Handle, LaunchRequest, LogChunk, Mount, Observation, RuntimeImage
from apps.workloads.drivers.capabilities import InventoryMixin
from apps.workloads.drivers.errors import CannotSee, DriverError
from apps.workloads.drivers.local import processes, shim
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.request import DATA
from apps.workloads.drivers.sockets import connected

DEADLINE_S = 60.0
MIB = 1024 * 1024
NODE = "node-1"
VOLUMES = {DATA: Path("/")}
"""Of a driver under test on this machine: any folder may be mounted."""


@dataclass
class Kit:
    """A driver under test, and two folders that every workload gets: code (read-only) and output."""

    driver: Any
    code: Path
    output: Path
    root: Path = Path("/")
    """What the driver takes for the root of the volume `DATA`."""
    joins_machines: bool = False
    """Whether members of a gang may be on different nodes, as on simulated ones, which are one machine."""

    def mount(self, path: Path, target: str, read_only: bool = True, limit_mib: int | None = None) -> Mount:
        return Mount(DATA, str(path.relative_to(self.root)), target, read_only, limit_mib)

    def request(self, *argv: str, **changes: Any) -> LaunchRequest:
        request = LaunchRequest(
            attempt_id=uuid4(),
            workload_id=uuid4(),
            tenant_id=uuid4(),
            node=NODE,
            image=RuntimeImage("plain"),
            argv=argv,
            env={},
            mounts=(
                self.mount(self.code, "/workspace/code"),
                self.mount(self.output, "/workspace/output", read_only=False),
            ),
            workdir="/workspace/code",
            cpu_milli=1000,
            memory_mib=256,
        )
        return replace(request, **changes)

    def python(self, source: str, *arguments: str, **changes: Any) -> LaunchRequest:
        return self.request("python", "-c", source, *arguments, **changes)

    def offers(self, mixin: Any) -> Any:
        """The driver as one that has this capability; skips the test of one that has not."""
        if not isinstance(self.driver, mixin):
            pytest.skip(f"{type(self.driver).__name__} offers no {mixin.__name__}")
        return self.driver

    def is_recorded(self, ref: str) -> bool:
        """Whether the driver still knows the attempt; one without an inventory keeps nothing that could be left."""
        driver: object = self.driver
        return isinstance(driver, InventoryMixin) and ref in driver.known(NODE)

    def connect(self, handle: Handle, port: int) -> socket.socket:
        """A connection to the port once something listens there, by whatever endpoint the driver names."""

        def dial() -> socket.socket | None:
            try:
                return connected(self.driver.endpoint(handle, port), DEADLINE_S)
            except (DriverError, ConnectionRefusedError, FileNotFoundError):
                return None

        connection: socket.socket = eventually(dial, lambda found: found is not None)
        return connection

    def launch(self, request: LaunchRequest) -> Handle:
        handle: Handle = self.driver.launch(request)
        return handle

    def wait(
        self, handle: Handle, until: Callable[[Observation], bool] = lambda seen: seen.phase.is_final
    ) -> Observation:
        """Ask as the platform asks: what a driver cannot tell now, it is asked again."""

        def look() -> Observation | CannotSee:
            try:
                seen: Observation = self.driver.observe(handle)
            except CannotSee as error:
                return error
            return seen

        seen: Observation = eventually(look, lambda seen: not isinstance(seen, CannotSee) and until(seen))
        return seen

    def wait_output(self, handle: Handle, text: str) -> None:
        """Wait until a whole line says `text`: its newline may be written a moment after its letters."""

        def lines() -> bytes:
            data = self.driver.logs(handle, 0, MIB).data
            return data[: data.rfind(b"\n") + 1]

        eventually(lines, lambda data: text.encode() in data)

    def wait_exit(self, handle: Handle) -> Exit:
        ended = self.wait(handle).exit
        assert ended is not None
        return ended

    def run(self, request: LaunchRequest) -> tuple[Exit, str]:
        handle = self.launch(request)
        return self.wait_exit(handle), self.text(handle)

    def text(self, handle: Handle) -> str:
        """The workload's own output, without the platform's lines."""
        lines = self.log(handle).decode().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("[plstack] "))

    def log(self, handle: Handle, limit: int = 65536) -> bytes:
        """The log of an ended attempt, read the way the pages do: chunk after chunk, by offset."""
        data = b""
        while True:
            chunk: LogChunk = self.driver.logs(handle, len(data), limit)
            assert chunk.offset == len(data)
            assert chunk.next_offset == chunk.offset + len(chunk.data)
            data += chunk.data
            if chunk.complete:
                return data
            assert chunk.data


def eventually(look: Callable[[], Any], until: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + DEADLINE_S
    while not until(seen := look()):
        assert time.monotonic() < deadline, f"gave up waiting; last seen: {seen}"
        time.sleep(0.05)
    return seen


def shim_of(handle: Handle) -> int:
    """The shim is the ancestor of all processes that carry the attempt's mark.

    A child that it has just forked looks like it for a moment, until it becomes the program that it is to run, or ends.
    """

    def oldest() -> list[int]:
        alike = [pid for pid in processes.marked(MARKER, handle.ref) if _commands(pid)[4:5] == [shim.BOOT]]
        return [pid for pid in alike if not any(pid in processes.descendants(other) for other in alike)]

    [pid] = eventually(oldest, lambda found: len(found) == 1)
    return int(pid)


def _commands(pid: int) -> list[str]:
    """Nothing of one that has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
