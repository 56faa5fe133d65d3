"""WebSockets of signed-in people: opened with a right, closed soon after it has ended.

Browsers hide why a handshake is refused, so one that a page of ours makes is accepted and closed with a code that the
page can put into words.
"""

import asyncio
import json
import logging
from enum import IntEnum
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from apps.common.access import Access, Realm
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound, SignedOut, Unavailable
from apps.common.grants import Grant
from apps.common.live import rights_group
from apps.tenants.session_actors import SessionActors

log = logging.getLogger(__name__)


class Closing(IntEnum):
    """Why a connection was closed (RFC 6455, 7.4); those from 4000 on are ours and have words on the page."""

    NOT_TEXT = 1003
    NOT_JSON = 1007
    TOO_LARGE = 1009
    BROKEN = 1011
    BAD_ADDRESS = 4400
    SIGNED_OUT = 4401
    DENIED = 4403
    NOT_FOUND = 4404
    OUT_OF_SIGHT = 4503


def closing_of(error: DomainError) -> Closing:
    closings = {SignedOut: Closing.SIGNED_OUT, NotFound: Closing.NOT_FOUND, Unavailable: Closing.BROKEN}
    return closings.get(type(error), Closing.DENIED)


class Watched(AsyncWebsocketConsumer):
    """`actor` has the rights of the last look, a few seconds ago at most; `?portal=console` asks as staff.

    Subclasses say in `visible` what the connection is about, and in `opened` and `heard` what it does.
    """

    # What a page ever sends is a list of at most fifty names.
    LARGEST_MESSAGE: ClassVar[int] = 16 * 1024

    async def connect(self) -> None:
        self.grant: Grant | None = None
        self.watch: asyncio.Task[None] | None = None
        await self.accept()
        try:
            self.read_address()
            self.grant = Grant(self._actors(), _access(self.scope), self.visible)
            self.actor: Actor = await database_sync_to_async(self.grant.ask)()
        except DomainError as error:
            await self.close(code=closing_of(error))
            return
        except ValueError:
            await self.close(code=Closing.BAD_ADDRESS)
            return
        self.watch = asyncio.create_task(self._watch(self.grant))
        await self._hear_of_rights()
        await self.opened()

    def _actors(self) -> SessionActors:
        user, session = self.scope.get("user"), self.scope.get("session")
        if user is None or not user.is_authenticated:
            raise SignedOut
        return SessionActors(user, (session.session_key if session else "") or "")

    def read_address(self) -> None:
        """Take in the query; raises ValueError for one that no page of ours makes."""

    def visible(self, actor: Actor) -> None:
        """Raise a `DomainError` where `actor` may not see all that this connection tells any more."""
        self.actor = actor

    async def opened(self) -> None:
        """Begin; the connection is accepted and its actor known."""

    async def heard(self, message: dict[str, Any]) -> None:
        """A JSON object that the page sent."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.watch is None:
            return
        if text_data is None:
            await self.close(code=Closing.NOT_TEXT)
        elif len(text_data) > self.LARGEST_MESSAGE:
            await self.close(code=Closing.TOO_LARGE)
        else:
            await self._parsed(text_data)

    async def _parsed(self, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            await self.close(code=Closing.NOT_JSON)
            return
        if isinstance(message, dict):
            await self.heard(message)
        else:
            await self.close(code=Closing.NOT_TEXT)

    async def _hear_of_rights(self) -> None:
        try:
            await self.channel_layer.group_add(rights_group(self.actor.person()), self.channel_name)
        except Exception:  # Redis down: the timer notices all the same
            log.warning("a connection does not hear of rights", exc_info=log.isEnabledFor(logging.DEBUG))

    async def rights_changed(self, _message: dict[str, Any]) -> None:
        """Of a channel group; it may be lost, the timer is not."""
        if self.grant is not None:
            self.grant.hurry()

    async def _watch(self, grant: Grant) -> None:
        try:
            code = closing_of(await grant.lost())
        except Exception:
            log.exception("the right to a connection could not be checked")
            code = Closing.BROKEN
        await self.end(code)

    async def end(self, code: Closing) -> None:
        """Say nothing any more, then close."""
        await self.stop()
        await self.close(code=code)

    async def stop(self) -> None:
        """Stop telling; called once or more."""

    async def disconnect(self, code: int) -> None:
        await self.stop()
        if self.watch is not None:
            self.watch.cancel()
            await self.channel_layer.group_discard(rights_group(self.actor.person()), self.channel_name)


def _access(scope: dict[str, Any]) -> Access:
    is_console = b"portal=console" in scope.get("query_string", b"")
    return Access(Realm.PLATFORM if is_console else Realm.ORGANISATION)
