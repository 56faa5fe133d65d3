"""How a driver reaches one attempt while it runs: its state, log, ports, notice and end.

A driver whose host has the attempt's folders may look there itself. Any other asks the shim beside the program, whose
server (`server.Server`) offers what it sees as an `AttemptAccess`; `client.Client` is one again at the other end of a
stream. Who uses it cannot tell the two apart, and the drivers' contract suite holds for both.
"""

import socket
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from apps.workloads.drivers.base import LogChunk, Observation, Usage
from apps.workloads.drivers.notices import Notice
from apps.workloads.drivers.said import Said
from apps.workloads.drivers.streams import ExecStream


class AttemptAccess(Protocol):
    """All methods raise `CannotSee` when the answer cannot be known now, and may be repeated, by several at a time."""

    def observe(self) -> Observation:
        """With the age of the last checkpoint."""
        ...

    def logs(self, offset: int = 0, limit: int = 65536) -> LogChunk:
        """At most `limit` bytes from `offset`, and at most a MiB."""
        ...

    def metrics(self, since_s: float = 0.0) -> list[Usage]:
        """Samples with `at_s > since_s`, oldest first."""
        ...

    def listens(self, port: int) -> bool:
        """Whether something inside does, on this port."""
        ...

    def connect(self, port: int) -> socket.socket:
        """A stream to 127.0.0.1:`port` inside. Raises `DriverError` where nothing listens."""
        ...

    def tell(self, notice: Notice | None) -> None:
        """Let the program find the notice; None takes it back."""
        ...

    def stop(self, grace_s: float) -> None:
        """Ask it to end, kill after `grace_s`. Returns at once."""
        ...


@runtime_checkable
class OnlyWay(Protocol):
    """What a shim offers beside that where its channel is all that leads to it: an `AttemptAccess`, too."""

    def exec(self, argv: Sequence[str], tty: bool, env: Mapping[str, str]) -> ExecStream:
        """As `Driver.exec`."""
        ...

    def begin(self, members: Sequence[str]) -> None:
        """Leave the barrier: all members are there, at these addresses, by rank."""
        ...

    def fail(self, said: Said) -> None:
        """What it waits for will never be there: end as an image that could not be prepared. No effect once it runs."""
        ...
