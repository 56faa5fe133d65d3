"""WebSockets of signed-in people: opening needs a right, and they are closed soon after it has ended.

Browsers hide why a handshake is refused, so one that a page of ours makes is accepted and closed with a code that the
page can put into words.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from apps.common.access import Access, Realm
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound, SignedOut, Unavailable
from apps.common.grants import Grant, recheck_together
from apps.common.hub import Batch, hub
from apps.common.live import rights_group
from apps.tenants.session_actors import SessionActors

log = logging.getLogger(__name__)


class CloseCode(IntEnum):
    """Why a connection was closed (RFC 6455, 7.4); those from 4000 on are ours and have words on the page."""

    NOT_TEXT = 1003
    NOT_JSON = 1007
    TOO_LARGE = 1009
    BROKEN = 1011
    BAD_ADDRESS = 4400
    SIGNED_OUT = 4401
    DENIED = 4403
    NOT_FOUND = 4404
    IDLE = 4408
    NOT_RUNNING = 4409
    ENDED = 4410
    TOO_MANY = 4429
    OUT_OF_SIGHT = 4503


def close_code(error: DomainError) -> CloseCode:
    closings = {SignedOut: CloseCode.SIGNED_OUT, NotFound: CloseCode.NOT_FOUND, Unavailable: CloseCode.BROKEN}
    return closings.get(type(error), CloseCode.DENIED)


class SendQueue:
    """Frames for a page in their order, so that nobody waits for a slow page.

    One that falls behind by `MOST` frames is told instead that anything may have changed.
    """

    MOST = 50

    def __init__(self, consumer: AsyncWebsocketConsumer) -> None:
        self._consumer = consumer
        self._frames: deque[str | bytes] = deque()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def put(self, message: dict[str, Any]) -> None:
        self.put_frame(json.dumps(message))

    def put_frame(self, frame: str | bytes) -> None:
        """Text, or bytes as a binary frame."""
        if self._closed:
            return
        if len(self._frames) >= self.MOST:
            self._frames.clear()
            frame = json.dumps({"reset": True, "spread": 0, "lists": True})
        self._frames.append(frame)
        if self._task is None:
            self._task = asyncio.create_task(self._send())

    async def _send(self) -> None:
        try:
            while self._frames:
                frame = self._frames.popleft()
                is_text = isinstance(frame, str)
                await self._consumer.send(**{"text_data" if is_text else "bytes_data": frame})
        except Exception:  # the page has gone; its consumer is told so
            log.debug("a page could not be told", exc_info=True)
            self.close()
        finally:
            self._task = None

    def close(self) -> None:
        """What still waits is not sent."""
        self._closed = True
        self._frames.clear()


class AuthorisedConsumer(AsyncWebsocketConsumer):
    """`actor` has the rights as last checked, a few seconds ago at most; `?portal=console` connects as staff.

    Subclasses check in `require_visible` that the actor may see its subject, and act in `on_open` and `on_message`.
    """

    # A page never sends more than a list of fifty names.
    LARGEST_MESSAGE: ClassVar[int] = 16 * 1024
    # For those that are many, and whose `require_visible` asks nothing but the database, at most once.
    CHECKED_TOGETHER: ClassVar[bool] = False

    async def connect(self) -> None:
        self.grant: Grant | None = None
        self.watch: asyncio.Task[None] | None = None
        await self.accept()
        try:
            self.read_query()
            together = recheck_of_sessions if self.CHECKED_TOGETHER else None
            self.grant = Grant(self._actors(), _access(self.scope), self.require_visible, together)
            self.grant.on_confirmed = self.on_rights_confirmed
            await hub().join(self._rights_group(), self)  # before they are read: whatever changes then is heard of
            self.actor: Actor = await database_sync_to_async(self.grant.recheck)()
        except DomainError as error:
            await self.close(code=close_code(error))
            return
        except ValueError:
            await self.close(code=CloseCode.BAD_ADDRESS)
            return
        self.watch = asyncio.create_task(self._watch(self.grant))
        await self.on_open()

    def _actors(self) -> SessionActors:
        user, session = self.scope.get("user"), self.scope.get("session")
        if user is None or not user.is_authenticated:
            raise SignedOut
        return SessionActors(user, (session.session_key if session else "") or "")

    def _rights_group(self) -> str:
        return rights_group(self.scope["user"].pk)

    def read_query(self) -> None:
        """Parse the query string; raises ValueError for one that no page of ours makes."""

    def require_visible(self, actor: Actor) -> None:
        """Raise a `DomainError` if `actor` may no longer see everything that this connection sends."""
        self.actor = actor

    async def on_open(self) -> None:
        """Called once the connection is accepted and its actor known."""

    async def on_message(self, message: dict[str, Any]) -> None:
        """Called with each JSON object that the page sends."""

    async def on_bytes(self, data: bytes) -> None:
        """Called with each binary frame, however large; most connections take none."""
        await self.close(code=CloseCode.NOT_TEXT)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.watch is None:
            return
        if text_data is None:
            await self.on_bytes(bytes_data or b"")
        elif len(text_data) > self.LARGEST_MESSAGE:
            await self.close(code=CloseCode.TOO_LARGE)
        else:
            await self._parsed(text_data)

    async def _parsed(self, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            await self.close(code=CloseCode.NOT_JSON)
            return
        if isinstance(message, dict):
            await self.on_message(message)
        else:
            await self.close(code=CloseCode.NOT_TEXT)

    def hear(self, batch: Batch) -> None:
        """Called with what befell a group that this connection has joined."""

    def miss(self) -> None:
        """Called when messages may have been lost, those about rights among them."""
        self.doubt_rights()

    def doubt_rights(self) -> None:
        """Messages may be lost; the timer checks as well."""
        if self.grant is not None:
            self.grant.recheck_soon()

    def on_rights_confirmed(self) -> None:
        """Called in the event loop after each check that has confirmed the right."""

    async def _watch(self, grant: Grant) -> None:
        try:
            code = close_code(await grant.wait_until_lost())
        except Exception:
            log.exception("the right to a connection could not be checked")
            code = CloseCode.BROKEN
        await self.end(code)

    async def end(self, code: CloseCode) -> None:
        """Stop sending, then close."""
        await self.stop()
        await self.close(code=code)

    async def stop(self) -> None:
        """Stop sending; may be called more than once."""

    async def disconnect(self, code: int) -> None:
        await self.stop()
        if self.watch is not None:
            self.watch.cancel()
        if self.grant is not None:
            hub().leave(self._rights_group(), self)
        await self.settle()

    async def settle(self) -> None:
        """Wait for what has to be done once the page has gone: the server's end waits for that as well."""


def recheck_of_sessions(grants: Sequence[Grant]) -> list[Exception | None]:
    """What is wrong with the rights of these connections, if anything."""
    return recheck_together(grants, SessionActors.reloaded_together)


def _access(scope: dict[str, Any]) -> Access:
    is_console = b"portal=console" in scope.get("query_string", b"")
    return Access(Realm.PLATFORM if is_console else Realm.ORGANISATION)
