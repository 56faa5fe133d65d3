"""Pump bytes between a client's channel and a process inside the environment, in one event loop for all."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import asyncssh

from apps.workloads.drivers.streams import ExecStream
from apps.workloads.readiness import cancel, readable, writable

READ_BYTES = 65536
HANG_UP_S = 2.0

Reader = Any  # asyncssh.SSHReader[bytes]: it raises what the client tells besides bytes
Writer = Any  # asyncssh.SSHWriter[bytes]


class ChannelPump:
    """Pumps both ways until the process has ended and its output is sent. `typed` is called for each input.

    `error` None: error output is dropped. With `tell_end`, the end of the output is sent separately.
    """

    def __init__(
        self,
        stream: ExecStream,
        reader: Reader,
        output: Writer,
        error: Writer | None,
        typed: Callable[[], None],
        *,
        tell_end: bool = False,
    ) -> None:
        self.stream = stream
        self.reader = reader
        self.output = output
        self.error = error
        self.typed = typed
        self.tell_end = tell_end
        self.ended = asyncio.Event()

    async def run(self, hear: Callable[[Exception], None] = lambda _event: None) -> None:
        """`hear` gets resizes, signals and breaks. Returns when everything is sent; the caller closes the stream."""
        for descriptor in (self.stream.fileno(), self.stream.input_fileno(), self.stream.error_fileno()):
            if descriptor is not None:
                os.set_blocking(descriptor, False)
        inward = asyncio.create_task(self._inward(hear))
        outward = [asyncio.create_task(self._outward(self.stream.fileno(), self.output))]
        error = self.stream.error_fileno()
        if error is not None:
            outward.append(asyncio.create_task(self._outward(error, self.error)))
        try:
            if await self._ended_before_hanging_up():
                self.ended.set()
                await asyncio.gather(*outward)
        finally:
            await cancel(inward, *outward)

    async def _ended_before_hanging_up(self) -> bool:
        """False when the client went away first: the process is told as by a terminal, and given a moment."""
        exited = asyncio.ensure_future(readable(self.stream.exit_fileno()))
        closed = asyncio.ensure_future(self.output.channel.wait_closed())
        try:
            await asyncio.wait((exited, closed), return_when=asyncio.FIRST_COMPLETED)
            if exited.done():
                return True
            self.stream.signal(signal.SIGHUP)
            await asyncio.wait((exited,), timeout=HANG_UP_S)
            return False
        finally:
            await cancel(exited, closed)

    async def _outward(self, descriptor: int, writer: Writer | None) -> None:
        """To the end of the output; once the process has ended, what is there now: others may hold it open for ever."""
        while data := await self._next(descriptor):
            if writer is not None:
                writer.write(data)
                await writer.drain()
        if self.tell_end and writer is self.output:
            writer.write_eof()

    async def _next(self, descriptor: int) -> bytes:
        while True:
            try:
                return os.read(descriptor, READ_BYTES)
            except BlockingIOError:
                if self.ended.is_set():
                    return b""
                await self._readable_or_ended(descriptor)
            except OSError:  # how a terminal ends
                return b""

    async def _readable_or_ended(self, descriptor: int) -> None:
        waits = [asyncio.ensure_future(readable(descriptor)), asyncio.ensure_future(self.ended.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel(*waits)

    async def _inward(self, hear: Callable[[Exception], None]) -> None:
        while True:
            try:
                data = await self.reader.read(READ_BYTES)
            except (asyncssh.TerminalSizeChanged, asyncssh.SignalReceived, asyncssh.BreakReceived) as event:
                hear(event)
                continue
            except (asyncssh.Error, OSError):
                data = b""
            if not data:
                break
            self.typed()
            await self._write(data)
        with suppress(OSError):
            self.stream.close_input()

    async def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.stream.input_fileno(), view) :]
            except BlockingIOError:
                await writable(self.stream.input_fileno())
            except OSError:  # nobody reads it any more
                return
