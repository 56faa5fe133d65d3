"""Carry bytes between a browser and a process at a terminal, with bounds on what waits in either direction.

The page says how much it has drawn, and the process waits while `WINDOW` bytes are on their way: a program that prints
without end takes no memory, neither here nor in the page. The other way, the page learns how much was taken.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

from apps.workloads.drivers.streams import ExecStream
from apps.workloads.readiness import cancel, readable, writable

READ_BYTES = 16 * 1024
WINDOW = 256 * 1024
# A page of ours has at most 64 KiB under way.
MOST_INPUT = 256 * 1024
# Of a page that does not draw any more, once the process has ended.
DRAIN_S = 5.0
HANG_UP_S = 2.0
LARGEST_SIDE = 1000


class TerminalPump:
    """`send` takes output, `taken` the total count of input bytes that the process has been given."""

    def __init__(
        self,
        stream: ExecStream,
        send: Callable[[bytes], Awaitable[None]],
        taken: Callable[[int], Awaitable[None]],
    ) -> None:
        self._stream = stream
        self._send = send
        self._tell_taken = taken
        self._input = bytearray()
        self._has_input = asyncio.Event()
        self._drawn = asyncio.Event()
        self._sent = self._acknowledged = 0
        self._ended = asyncio.Event()
        self._size: tuple[int, int] | None = None
        self._resizing: asyncio.Task[None] | None = None

    def put(self, data: bytes) -> bool:
        """What was typed; False, and nothing taken, where too much waits already."""
        if len(self._input) + len(data) > MOST_INPUT:
            return False
        self._input += data
        self._has_input.set()
        return True

    def acknowledge(self, drawn: int) -> None:
        """The page has drawn so many bytes since the beginning."""
        if self._acknowledged < drawn <= self._sent:
            self._acknowledged = drawn
            self._drawn.set()

    def resize(self, columns: int, rows: int) -> None:
        """In a thread, since another machine may have to be told; of sizes that follow each other the last one."""
        if 0 < columns <= LARGEST_SIDE and 0 < rows <= LARGEST_SIDE:
            self._size = (rows, columns)
            if self._resizing is None:
                self._resizing = asyncio.create_task(self._resize())

    async def run(self) -> None:
        """Until the process has ended and its output is drawn. Cancelled, it hangs up on the process."""
        for descriptor in (self._stream.fileno(), self._stream.input_fileno()):
            os.set_blocking(descriptor, False)
        inward, outward = asyncio.create_task(self._inward()), asyncio.create_task(self._outward())
        try:
            await readable(self._stream.exit_fileno())
            self._ended.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_S):
                    await outward
        finally:
            await cancel(inward, outward)
            if not self._ended.is_set():
                await self._hang_up()

    async def _hang_up(self) -> None:
        """As when a terminal's window is closed: the shell and its jobs are told, and given a moment."""
        await asyncio.to_thread(self._stream.signal, signal.SIGHUP)
        with suppress(TimeoutError):
            async with asyncio.timeout(HANG_UP_S):
                await readable(self._stream.exit_fileno())

    async def _outward(self) -> None:
        while data := await self._next():
            self._sent += len(data)
            await self._send(data)
            while self._sent - self._acknowledged >= WINDOW:
                self._drawn.clear()
                await self._drawn.wait()

    async def _next(self) -> bytes:
        """Output, or once the process has ended what is there now: others may hold the terminal open for ever."""
        while True:
            try:
                return os.read(self._stream.fileno(), READ_BYTES)
            except BlockingIOError:
                if self._ended.is_set():
                    return b""
                await self._readable_or_ended()
            except OSError:  # how a terminal ends
                return b""

    async def _readable_or_ended(self) -> None:
        waits = [asyncio.ensure_future(readable(self._stream.fileno())), asyncio.ensure_future(self._ended.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel(*waits)

    async def _inward(self) -> None:
        total = 0
        while True:
            await self._has_input.wait()
            try:
                written = os.write(self._stream.input_fileno(), self._input[:READ_BYTES])
            except BlockingIOError:
                await writable(self._stream.input_fileno())
                continue
            except OSError:  # nobody reads it any more
                return
            total += written
            del self._input[:written]
            if not self._input:
                self._has_input.clear()
            await self._tell_taken(total)

    async def _resize(self) -> None:
        while self._size is not None:
            (rows, columns), self._size = self._size, None
            with suppress(OSError):
                await asyncio.to_thread(self._stream.resize, rows, columns)
        self._resizing = None
