"""Live data over WebSockets. Both resume: events from the last id, logs from the last byte."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.db.models import Q

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Denied, DomainError, NotFound, Unavailable
from apps.common.live import PLATFORM_GROUP, organisation_group, person_group, workload_group
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants.sockets import Closing, Watched, closing_of
from apps.workloads import selectors
from apps.workloads.drivers.base import LogChunk
from apps.workloads.models import Attempt, Event

TAIL_INTERVAL_S = 0.4
# An event with a lower id may commit after one with a higher id: look back a little, browsers drop what they have.
OVERLAP = 50
LATEST_COMMIT = timedelta(seconds=15)
MAX_REPLAY = 500
MAX_GROUPS = 50
LARGEST_OFFSET = 2**63 - 1


class LiveConsumer(Watched):
    """Events of the groups that the page asks for.

    In: {"subscribe": ["workload.<id>" | "org.<id>" | "platform"], "last": event id}.
    Out: {"id", "group", "workload", "kind", "status"}; without an id it is progress, not worth resuming from.
    """

    joined: frozenset[str] = frozenset()

    async def heard(self, message: dict[str, Any]) -> None:
        if not isinstance(message.get("subscribe"), list):
            await self._send({"kind": "error", "code": "bad_message"})
            return
        for group in {str(wanted) for wanted in message["subscribe"][:MAX_GROUPS]} - self.joined:
            if await database_sync_to_async(self._may_join)(group):
                self.joined |= {group}
                await self.channel_layer.group_add(group, self.channel_name)
            else:
                await self._send({"kind": "error", "code": "not_found", "group": group})
        last = message.get("last")
        if type(last) is int and 0 < last <= LARGEST_OFFSET:
            for event in await database_sync_to_async(self._missed)(last):
                await self._send(event)

    def visible(self, actor: Actor) -> None:
        """All that the page has joined: one query for its workloads, none for the rest."""
        super().visible(actor)
        workloads = {group for group in self.joined if group.startswith("workload.")}
        if not all(self._is_own_group(actor, group) for group in self.joined - workloads):
            raise Denied(Permission.ORGANISATION_VIEW)
        if workloads and not selectors.sees_all(actor, {UUID(group.removeprefix("workload.")) for group in workloads}):
            raise NotFound

    def _may_join(self, group: str) -> bool:
        if self._is_own_group(self.actor, group):
            return True
        kind, _, text = group.partition(".")
        try:
            with acting(self.actor):
                return kind == "workload" and workload_group(selectors.get(self.actor, UUID(text)).pk) == group
        except (ValueError, DomainError):
            return False

    @staticmethod
    def _is_own_group(actor: Actor, group: str) -> bool:
        if group == PLATFORM_GROUP:
            return actor.platform
        if group == person_group(actor.person()):
            return True
        if actor.organisation_id is None or not actor.may(Permission.ORGANISATION_VIEW):
            return False
        return group == organisation_group(actor.organisation_id)

    def _missed(self, last: int) -> list[dict[str, Any]]:
        """Events since `last`, once for each joined group that they belong to; or a reset when there are too many."""
        with acting(self.actor):
            visible = selectors.visible(self.actor).order_by().values("pk")
            late = Q(pk__gt=last - OVERLAP, at__gte=db_now() - LATEST_COMMIT)
            rows = list(Event.objects.filter(Q(pk__gt=last) | late, workload__in=visible).order_by("pk")[:MAX_REPLAY])
        if len(rows) == MAX_REPLAY:
            return [{"reset": True}]
        return [message for row in rows for message in self._messages(row)]

    def _messages(self, row: Event) -> list[dict[str, Any]]:
        groups = (workload_group(row.workload_id), organisation_group(row.organisation_id), PLATFORM_GROUP)
        body = {"id": row.pk, "workload": str(row.workload_id), "kind": row.kind, "status": row.status}
        return [{**body, "group": group} for group in groups if group in self.joined]

    async def workload_event(self, message: dict[str, Any]) -> None:
        sent = {key: value for key, value in message.items() if key != "type" and (key, value) != ("id", 0)}
        await self._tell(sent)

    async def notice(self, message: dict[str, Any]) -> None:
        await self._tell({"group": message["group"], "kind": "notice"})

    async def _tell(self, message: dict[str, Any]) -> None:
        if message["group"] in self.joined:
            await self._send(message)

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message))

    async def stop(self) -> None:
        left, self.joined = self.joined, frozenset()
        for group in left:
            await self.channel_layer.group_discard(group, self.channel_name)


class LogConsumer(Watched):
    """The log of a workload's attempt from `?offset=`: binary frames are its bytes, in order, without hole or repeat.

    Text frames are control, {"offset", "complete"}: the next binary byte belongs at `offset`.
    """

    tail: asyncio.Task[None] | None = None

    def read_address(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        self.offset = _number(query.get("offset", ["0"])[0])
        wanted = query.get("attempt", [""])[0]
        self.attempt_number = _number(wanted) if wanted else None

    def visible(self, actor: Actor) -> None:
        super().visible(actor)
        workload = selectors.get(actor, self.scope["url_route"]["kwargs"]["workload_id"])
        found = selectors.attempts(workload)
        if self.attempt_number is not None:
            found = [attempt for attempt in found if attempt.number == self.attempt_number]
        self.attempt: Attempt | None = found[0] if found else None

    async def opened(self) -> None:
        await self.send(text_data=json.dumps({"offset": self.offset, "complete": False}))
        self.tail = asyncio.create_task(self._follow())

    def _next_chunk(self) -> LogChunk:
        if self.attempt is None or self.attempt.handle is None:  # of a placed one, only the driver knows more
            with acting(self.actor):
                self.visible(self.actor)
        return selectors.log_chunk(self.attempt, offset=self.offset, limit=256 * 1024)

    async def _follow(self) -> None:
        """Send what there is, then look again; ends when the attempt has ended and all was sent."""
        try:
            while True:
                chunk = await database_sync_to_async(self._next_chunk)()
                if chunk.data:
                    self.offset = chunk.next_offset
                    await self.send(bytes_data=chunk.data)
                if chunk.data or chunk.complete:
                    await self.send(text_data=json.dumps({"offset": self.offset, "complete": chunk.complete}))
                if chunk.complete:
                    return
                if not chunk.data:
                    await asyncio.sleep(TAIL_INTERVAL_S)
        except Unavailable:  # its machine does not answer now: no right has ended, and it may answer again
            await self.close(code=Closing.OUT_OF_SIGHT)
        except DomainError as error:
            await self.close(code=closing_of(error))

    async def stop(self) -> None:
        if self.tail is not None:
            self.tail.cancel()


def _number(text: str) -> int:
    """Raises ValueError for anything but an offset that a log can have."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_OFFSET))):
        raise ValueError("not an offset")
    number = int(text)
    if number > LARGEST_OFFSET:
        raise ValueError("not an offset")
    return number
