"""A request's body: small ones are read whole, so that another replica can be given them; others are streamed."""

import asyncio
from collections.abc import AsyncIterator

from apps.workloads.gateway.relay import Receive

WHOLE_BYTES = 128 * 1024


class TooLarge(Exception):
    """More than the service takes."""


class ClientGone(Exception):
    """The caller went away, or sent nothing for too long."""


class Body:
    """`read_first` decides which of both it is. `limit`: bytes in all. `silence_s`: between two pieces."""

    def __init__(self, receive: Receive, limit: int, silence_s: float) -> None:
        self._receive, self._limit, self._silence_s = receive, limit, silence_s
        self._first: list[bytes] = []
        self._size = 0
        self._complete = asyncio.Event()
        self._gone = False
        self.is_whole = False
        self.was_begun = False

    async def read_first(self) -> None:
        """Raises `TooLarge`, `ClientGone`."""
        while not self._complete.is_set() and self._size <= WHOLE_BYTES:
            self._first.append(await self._piece())
        self.is_whole = self._complete.is_set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Once for a streamed body, as often as wanted for a whole one. Raises as `read_first`."""
        self.was_begun = True
        for piece in self._first:
            yield piece
        while not self._complete.is_set():
            yield await self._piece()

    async def _piece(self) -> bytes:
        try:
            async with asyncio.timeout(self._silence_s):
                message = await self._receive()
        except TimeoutError:
            raise ClientGone from None
        if message["type"] == "http.disconnect":
            self._gone = True
            self._complete.set()
            raise ClientGone
        piece: bytes = message.get("body", b"")
        self._size += len(piece)
        if self._size > self._limit:
            self._complete.set()
            raise TooLarge
        if not message.get("more_body"):
            self._complete.set()
        return piece

    async def gone(self) -> None:
        """Return once the caller has left; until the body is complete, its reader hears of that."""
        await self._complete.wait()
        while not self._gone:
            self._gone = (await self._receive())["type"] == "http.disconnect"
