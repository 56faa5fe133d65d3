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
from apps.common.hub import Batch, hub
from apps.common.live import PLATFORM_GROUP, organisation_group, person_group, workload_group
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants.sockets import AuthorisedConsumer, CloseCode, close_code
from apps.workloads import selectors
from apps.workloads.audience import Audience
from apps.workloads.charting import ChartPushing
from apps.workloads.drivers.base import LogChunk
from apps.workloads.logs.lines import line_start, size_of
from apps.workloads.models import Event

TAIL_INTERVAL_S = 0.4
# An event with a lower id may commit after one with a higher id: look back a little, browsers drop what they have.
OVERLAP = 50
LATEST_COMMIT = timedelta(seconds=15)
MAX_REPLAY = 500
MAX_GROUPS = 50
# Pages that may have missed something spread their questions over so many seconds.
MISSED_SPREAD_S = 5
MAX_HELD = 100
LARGEST_OFFSET = 2**63 - 1
CUT_TAIL = 256 * 1024


class LiveConsumer(ChartPushing):
    """What befalls the groups that the page asks for.

    In: {"subscribe": ["workload.<id>" | "org.<id>" | "user.<id>" | "platform"], "last": event id, "lists": {element:
    address}, "stale": bool}.
    Out: {"events": [{"group", "id", "workload", "about", "kind", "of", "status"}, …], "spread": seconds}: without an id
    it is progress, not worth resuming from; of kind "other" something that this person does not see, although sums may
    change. {"reset": true, "spread"} says that anything may have changed. Whoever then asks the server waits for a
    random part of "spread". {"lists": [element, …]} are those that are pushed from now on: a binary frame is one,
    deflated, its first line {"list": element, "url": address}.
    """

    CHECKED_TOGETHER = True
    joined: frozenset[str] = frozenset()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.held: list[Batch] = []

    async def on_message(self, message: dict[str, Any]) -> None:
        if not isinstance(message.get("subscribe"), list):
            self.outbox.put({"kind": "error", "code": "bad_message"})
            return
        for group in {str(wanted) for wanted in message["subscribe"][:MAX_GROUPS]} - self.joined:
            if await database_sync_to_async(self._may_join)(group):
                self.joined |= {group}
                await hub().join(group, self)
            else:
                self.outbox.put({"kind": "error", "code": "not_found", "group": group})
        last, missed = message.get("last"), dict[str, Any](events=[])
        if type(last) is int and 0 < last <= LARGEST_OFFSET:
            missed = await database_sync_to_async(self._missed)(last)
            self.outbox.put(missed)
        if isinstance(message.get("charts"), dict):
            self.ask_for_charts(message["charts"])
        if isinstance(message.get("lists"), dict):
            self.ask_for_lists(message["lists"], stale=bool(message.get("stale") or missed.get("events", True)))

    def require_visible(self, actor: Actor) -> None:
        """All that the page has joined: one query for its workloads, none for the rest."""
        super().require_visible(actor)
        self.audience = Audience.of(actor)
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

    def _missed(self, last: int) -> dict[str, Any]:
        """Events since `last`, once for each joined group that they belong to; or a reset when there are too many."""
        with acting(self.actor):
            visible = selectors.visible(self.actor).order_by().values("pk")
            late = Q(pk__gt=last - OVERLAP, at__gte=db_now() - LATEST_COMMIT)
            rows = list(Event.objects.filter(Q(pk__gt=last) | late, workload__in=visible).order_by("pk")[:MAX_REPLAY])
        if len(rows) == MAX_REPLAY:
            return {"reset": True, "spread": 0}
        return {"events": [message for row in rows for message in self._messages(row)], "spread": 0}

    def _messages(self, row: Event) -> list[dict[str, Any]]:
        groups = (workload_group(row.workload_id), organisation_group(row.organisation_id), PLATFORM_GROUP)
        body = {"id": row.pk, "workload": str(row.workload_id), "kind": row.kind, "status": row.status}
        return [{**body, "group": group} for group in groups if group in self.joined]

    def hear(self, batch: Batch) -> None:
        if self.grant is not None and self.grant.in_doubt:
            self.held = [*self.held, batch][-MAX_HELD - 1 :]
        elif batch.group in self.joined:
            self.outbox.put_frame(batch.frame(self.audience, self.audience.frame))
            self.touch_lists(batch)

    def on_rights_confirmed(self) -> None:
        """What was held back while the rights were in doubt."""
        self.check_lists()
        self.check_charts()
        held, self.held = self.held, []
        if len(held) > MAX_HELD:
            self.miss()
            return
        for batch in held:
            self.hear(batch)

    def miss(self) -> None:
        super().miss()
        self.outbox.put({"reset": True, "spread": MISSED_SPREAD_S})
        self.miss_lists()

    async def stop(self) -> None:
        left, self.joined = self.joined, frozenset()
        self.held = []
        self.outbox.close()
        self.drop_lists()
        self.drop_charts()
        for group in left:
            hub().leave(group, self)


class LogConsumer(AuthorisedConsumer):
    """The log of an attempt, of the member `?rank=` where it has several: from `?offset=`, or with `?tail=` from the
    line on that has the byte so many before its end.

    Binary frames are its bytes, in order, without hole or repeat. Text frames are control, {"offset", "complete"}: the
    next binary byte belongs at `offset`. "times" in one, [[offset, Unix ms], …], are those of the bytes that follow.
    "cut" says that the log became shorter than what was sent, and that it goes on from `offset`.
    """

    tail: asyncio.Task[None] | None = None
    sent = False

    def read_query(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        self.offset = _number(query.get("offset", ["0"])[0])
        self.tail_bytes = _number(query["tail"][0]) if "tail" in query else None
        wanted = query.get("attempt", [""])[0]
        self.attempt_number = _number(wanted) if wanted else None
        self.rank = _number(query.get("rank", ["0"])[0])

    def require_visible(self, actor: Actor) -> None:
        super().require_visible(actor)
        workload = selectors.get(actor, self.scope["url_route"]["kwargs"]["workload_id"])
        found = selectors.attempts(workload)
        if self.attempt_number is not None:
            found = [attempt for attempt in found if attempt.number == self.attempt_number]
        self.program = selectors.program(found[0] if found else None, self.rank)

    async def on_open(self) -> None:
        self.tail = asyncio.create_task(self._follow())

    def _read(self, offset: int, limit: int) -> LogChunk:
        return selectors.log_chunk(self.program, offset=offset, limit=limit)

    def _tail_offset(self, wanted: int) -> int:
        return line_start(self._read, max(0, size_of(self._read) - wanted))

    def _next_chunk(self) -> LogChunk:
        if self.program is None or self.program.handle is None:  # of a placed one, only the driver knows more
            with acting(self.actor):
                self.require_visible(self.actor)
        return self._read(self.offset, 256 * 1024)

    async def _follow(self) -> None:
        """Send what there is, then look again; ends when the attempt has ended and all was sent."""
        try:
            if self.tail_bytes is not None:
                self.offset = await database_sync_to_async(self._tail_offset)(self.tail_bytes)
            await self._control()
            while not await self._forward():
                pass
        except Unavailable:  # its machine does not answer now: no right has ended, and it may answer again
            await self.close(code=CloseCode.OUT_OF_SIGHT)
        except DomainError as error:
            await self.close(code=close_code(error))

    async def _forward(self) -> bool:
        """Sends the next piece, or waits for it; True once nothing more will come."""
        chunk: LogChunk = await database_sync_to_async(self._next_chunk)()
        if self.sent and chunk.size is not None and chunk.size < self.offset:  # somebody cut the log
            self.sent = False
            self.offset = await database_sync_to_async(self._tail_offset)(CUT_TAIL)
            await self._control(cut=True)
            return False
        if chunk.times:
            await self._control(times=chunk.times)
        if chunk.data:
            self.offset, self.sent = chunk.next_offset, True
            await self.send(bytes_data=chunk.data)
        if chunk.data or chunk.complete:
            await self._control(complete=chunk.complete)
        else:
            await asyncio.sleep(TAIL_INTERVAL_S)
        return chunk.complete

    async def _control(self, *, complete: bool = False, **told: object) -> None:
        await self.send(text_data=json.dumps({"offset": self.offset, "complete": complete, **told}))

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
