"""Live data over WebSockets. Both resume: events from the last id, logs from the last byte."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer
from django.db.models import Q

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.live import PLATFORM_GROUP, organisation_group, person_group, workload_group
from apps.common.scoping import acting
from apps.tenants import second_factor
from apps.tenants.actors import organisation_actor, platform_actor
from apps.workloads import selectors
from apps.workloads.drivers.base import DriverError, LogChunk
from apps.workloads.models import Event

REFUSED = 4403
NOT_FOUND = 4404
TAIL_INTERVAL_S = 0.4
# An event with a lower id may commit after one with a higher id: look back a little, browsers drop what they have.
OVERLAP = 50
LATEST_COMMIT = timedelta(seconds=15)
MAX_REPLAY = 500


def actor_of(scope: dict[str, Any]) -> Actor:
    """The actor behind a connection; `?portal=console` asks as staff.

    Raises `Denied` for anonymous and outsiders, `SecondFactorMissing` where pages would lead to setting one up.
    """
    user = scope["user"]
    build = platform_actor if b"portal=console" in scope.get("query_string", b"") else organisation_actor
    actor = build(user)
    second_factor.admit(actor)
    return actor


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """Events of the groups that the page asks for.

    In: {"subscribe": ["workload.<id>" | "org.<id>" | "platform"], "last": event id}.
    Out: {"id", "group", "workload", "kind", "status"}; without an id it is progress, not worth resuming from.
    """

    async def connect(self) -> None:
        if not self.scope["user"].is_authenticated:
            await self.close(code=REFUSED)
            return
        try:
            self.actor = await database_sync_to_async(actor_of)(self.scope)
        except DomainError:
            await self.close(code=REFUSED)
            return
        self.joined: set[str] = set()
        await self.accept()

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        if not isinstance(content, dict) or not isinstance(content.get("subscribe"), list):
            await self.send_json({"kind": "error", "code": "bad_message"})
            return
        for group in {str(wanted) for wanted in content["subscribe"][:50]} - self.joined:
            if await database_sync_to_async(self._may_join)(group):
                self.joined.add(group)
                await self.channel_layer.group_add(group, self.channel_name)
            else:
                await self.send_json({"kind": "error", "code": "not_found", "group": group})
        last = content.get("last")
        if isinstance(last, int) and last > 0:
            for event in await database_sync_to_async(self._missed)(last):
                await self.send_json(event)

    def _may_join(self, group: str) -> bool:
        if group == PLATFORM_GROUP:
            return bool(self.actor.platform)
        if group == person_group(self.actor.person()):
            return True
        if self.actor.organisation_id and group == organisation_group(self.actor.organisation_id):
            return True
        kind, _, text = group.partition(".")
        try:
            with acting(self.actor):
                return kind == "workload" and workload_group(selectors.get(self.actor, UUID(text)).pk) == group
        except (ValueError, DomainError):
            return False

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
        await self.send_json(sent)

    async def notice(self, message: dict[str, Any]) -> None:
        await self.send_json({"group": message["group"], "kind": "notice"})

    async def disconnect(self, code: int) -> None:
        for group in getattr(self, "joined", ()):
            await self.channel_layer.group_discard(group, self.channel_name)


class LogConsumer(AsyncWebsocketConsumer):
    """The log of a workload's attempt from `?offset=`: binary frames are its bytes, in order, without hole or repeat.

    Text frames are control, {"offset", "complete"}: the next binary byte belongs at `offset`.
    """

    async def connect(self) -> None:
        self.tail: asyncio.Task[None] | None = None
        if not self.scope["user"].is_authenticated:
            await self.close(code=REFUSED)
            return
        query = dict(
            part.partition("=")[::2] for part in self.scope["query_string"].decode("ascii", "ignore").split("&")
        )
        offset, number = query.get("offset", "0"), query.get("attempt", "")
        self.offset = int(offset) if offset.isdigit() else 0
        self.attempt_number = int(number) if number.isdigit() else None
        try:
            self.actor = await database_sync_to_async(actor_of)(self.scope)
            await database_sync_to_async(self._attempt)()
        except DomainError:
            await self.close(code=NOT_FOUND)
            return
        await self.accept()
        await self.send(text_data=json.dumps({"offset": self.offset, "complete": False}))
        self.tail = asyncio.create_task(self._follow())

    def _attempt(self) -> Any:
        with acting(self.actor):
            workload = selectors.get(self.actor, self.scope["url_route"]["kwargs"]["workload_id"])
            found = selectors.attempts(workload)
            if self.attempt_number is not None:
                found = [attempt for attempt in found if attempt.number == self.attempt_number]
            return found[0] if found else None

    def _read(self) -> LogChunk:
        return selectors.log_chunk(self._attempt(), offset=self.offset, limit=256 * 1024)

    async def _follow(self) -> None:
        """Send what there is, then look again; ends when the attempt has ended and all was sent."""
        try:
            while True:
                chunk = await database_sync_to_async(self._read)()
                if chunk.data:
                    self.offset = chunk.next_offset
                    await self.send(bytes_data=chunk.data)
                if chunk.data or chunk.complete:
                    await self.send(text_data=json.dumps({"offset": self.offset, "complete": chunk.complete}))
                if chunk.complete:
                    return
                if not chunk.data:
                    await asyncio.sleep(TAIL_INTERVAL_S)
        except (DriverError, DomainError):
            await self.close(code=NOT_FOUND)

    async def disconnect(self, code: int) -> None:
        if self.tail is not None:
            self.tail.cancel()
