"""A process that was started inside a running workload, as its caller sees it."""

from typing import Protocol


class ExecStream(Protocol):
    """A process started inside a running workload, with its input and output.

    The descriptors are for those who wait for many (`select`, asyncio) and may be made non-blocking. A terminal has
    one descriptor for all, and no separate error output.
    """

    def fileno(self) -> int:
        """Readable: there is output, or its end."""
        ...

    def error_fileno(self) -> int | None:
        """The same for the error output; None for a terminal."""
        ...

    def input_fileno(self) -> int:
        """Writable: there is room for input."""
        ...

    def exit_fileno(self) -> int:
        """Readable once the process has ended, whoever still holds its output; `wait(0)` then tells how."""
        ...

    def read(self, limit: int = 65536) -> bytes:
        """Output since the last read; blocks until there is some; b"" at the end."""
        ...

    def read_error(self, limit: int = 65536) -> bytes:
        """As `read`, of the error output; always b"" for a terminal."""
        ...

    def write(self, data: bytes) -> None:
        """Blocks until all is written. Raises BrokenPipeError when nobody reads it any more."""
        ...

    def close_input(self) -> None:
        """The end of the input; the process goes on. To a terminal the end-of-file character is sent."""
        ...

    def resize(self, rows: int, columns: int) -> None: ...

    def signal(self, number: int) -> None:
        """Signals the process and its group; no effect once it has ended."""
        ...

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Its exit code, negative for a signal; None if it still runs after `timeout_s`, or when it cannot be told."""
        ...

    def close(self) -> int | None:
        """Ends the process if it still runs; its exit code, negative for a signal."""
        ...
