"""The socket of a terminal: `/ws/terminals/<workload>/?rank=`."""

import asyncio
import json
import logging
import time
from typing import Any, ClassVar
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django.db import Error as DatabaseError

from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, QuotaExceeded, Unavailable
from apps.common.scoping import acting
from apps.tenants.sockets import AuthorisedConsumer, CloseCode, close_code
from apps.workloads import reach
from apps.workloads.programs import MAX_DIGITS
from apps.workloads.terminal import sessions
from apps.workloads.terminal.pump import TerminalPump

log = logging.getLogger(__name__)

IDLE_S = 2 * 3600
KEEP_S = 20.0
ENDING_LOOKS = 20
ENDING_LOOK_S = 0.25


class TerminalConsumer(AuthorisedConsumer):
    """A shell of the workload's owner beside its program: the same sandbox, user id, limits, network and variables.

    Binary frames are bytes of the terminal, both ways. In: {"resize": [columns, rows]}, {"drawn": bytes drawn since the
    beginning}; without the latter, output stops after `pump.WINDOW` bytes. Out: {"open": rank}, {"taken": bytes typed
    that the shell was given}, {"exit": the shell's code}. Then the connection is closed: 1000 when the shell has ended,
    else with a `CloseCode`.
    """

    LARGEST_MESSAGE: ClassVar[int] = 64 * 1024

    session: sessions.Session | None = None
    task: asyncio.Task[None] | None = None
    upkeep: asyncio.Task[None] | None = None
    finishing: asyncio.Task[None] | None = None
    typed = False
    why = "page"

    def read_query(self) -> None:
        text = parse_qs(self.scope["query_string"].decode("latin-1")).get("rank", ["0"])[0]
        if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
            raise ValueError("not a rank")
        self.rank = int(text)

    def require_visible(self, actor: Actor) -> None:
        super().require_visible(actor)
        sessions.visible_workload(actor, self.scope["url_route"]["kwargs"]["workload_id"])

    async def on_open(self) -> None:
        workload_id = self.scope["url_route"]["kwargs"]["workload_id"]
        try:
            self.session = await database_sync_to_async(sessions.open_terminal)(self.actor, workload_id, self.rank)
        except DomainError as error:
            await self.end(_refusal(error))
            return
        self.pump = TerminalPump(self.session.stream, self._output, self._taken)
        self.used_at = time.monotonic()
        self.task = asyncio.create_task(self._serve(self.session))
        self.upkeep = asyncio.create_task(self._keep(self.session))

    async def on_bytes(self, data: bytes) -> None:
        if self.task is None:
            return
        self.typed, self.used_at = True, time.monotonic()
        if len(data) > self.LARGEST_MESSAGE or not self.pump.put(data):
            self.why = "flood"
            await self.end(CloseCode.TOO_LARGE)

    async def on_message(self, message: dict[str, Any]) -> None:
        if self.task is None:
            return
        size, drawn = message.get("resize"), message.get("drawn")
        if isinstance(size, list) and len(size) == 2 and all(type(side) is int for side in size):
            self.pump.resize(*size)
        if type(drawn) is int:
            self.pump.acknowledge(drawn)

    async def _output(self, data: bytes) -> None:
        await self.send(bytes_data=data)

    async def _taken(self, total: int) -> None:
        await self.send(text_data=json.dumps({"taken": total}))

    async def _serve(self, session: sessions.Session) -> None:
        """To the end of the shell or of the program beside it, or until cancelled."""
        code = None
        try:
            await self.send(text_data=json.dumps({"open": session.rank}))
            await self.pump.run()
            code = session.stream.wait(0)
            self.why = "shell" if code is not None else "program"
        except Exception:  # the page has gone while it was being told
            log.debug("a terminal's page could not be told", exc_info=True)
        finally:
            self.finishing = asyncio.create_task(self._finish(session, code))
            await asyncio.shield(self.finishing)
        await self._close_ended(session, code)

    async def _close_ended(self, session: sessions.Session, code: int | None) -> None:
        if code is not None:
            await self.send(text_data=json.dumps({"exit": code}))
            await self.close()
            return
        await self.close(code=CloseCode.ENDED if await self._program_ended(session) else CloseCode.OUT_OF_SIGHT)

    async def _program_ended(self, session: sessions.Session) -> bool:
        """The line to it is cut: its end shows a moment after that, or it was the line alone."""
        for _look in range(ENDING_LOOKS):
            try:
                if not await database_sync_to_async(self._still_runs)(session):
                    return True
            except Unavailable:
                return False
            await asyncio.sleep(ENDING_LOOK_S)
        return False

    def _still_runs(self, session: sessions.Session) -> bool:
        with acting(self.actor):
            workload = sessions.visible_workload(self.actor, session.workload.pk)
            return reach.still_runs(workload, session.rank)

    async def _finish(self, session: sessions.Session, code: int | None) -> None:
        """End what it runs, and write that down, whatever becomes of the connection."""
        await asyncio.to_thread(session.stream.close)
        try:
            await database_sync_to_async(sessions.ended)(self.actor, session, why=self.why, code=code)
        except DatabaseError:
            log.exception("the end of a terminal could not be written down")

    async def _keep(self, session: sessions.Session) -> None:
        """Count as open while it is, and end when nobody has typed for long."""
        while time.monotonic() - self.used_at < IDLE_S:
            await asyncio.sleep(KEEP_S)
            typed, self.typed = self.typed, False
            try:
                await database_sync_to_async(sessions.keep)(session, typed=typed)
            except DatabaseError:
                log.warning("the use of a terminal could not be written; it will be")
                self.typed = self.typed or typed
        self.why = "idle"
        await self.end(CloseCode.IDLE)

    async def end(self, code: CloseCode) -> None:
        if code in (CloseCode.SIGNED_OUT, CloseCode.DENIED, CloseCode.NOT_FOUND):
            self.why = "right ended"
        await super().end(code)

    async def stop(self) -> None:
        for task in (self.task, self.upkeep):
            if task is not None and task is not asyncio.current_task():
                task.cancel()

    async def settle(self) -> None:
        for task in (self.task, self.finishing):
            if task is not None:
                await asyncio.wait((task,))


def _refusal(error: DomainError) -> CloseCode:
    found = {QuotaExceeded: CloseCode.TOO_MANY, Conflict: CloseCode.NOT_RUNNING, Unavailable: CloseCode.OUT_OF_SIGHT}
    return found.get(type(error)) or close_code(error)
