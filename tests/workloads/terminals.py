"""A gang that runs until it is stopped, and what a page does with a terminal in it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants.models import User
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.models import Member, Workload
from apps.workloads.nodes import driver_named
from tests.builders import World, make_world, platform, submit_workload
from tests.sockets import Socket, browser_of, opened
from tests.workloads.loops import until

# Namespaces, control group, user id and capabilities of who runs it.
FACTS = (
    'import os; print("facts", *(os.readlink(f"/proc/self/ns/{n}") for n in ("net", "mnt", "pid", "user", "ipc")), '
    'open("/proc/self/cgroup").read().strip(), os.getuid(), os.getcwd(), os.environ["PLSTACK_RANK"], '
    '[line for line in open("/proc/self/status") if line[:6] in ("CapEff", "NoNewP", "Seccom")], flush=True)'
)
WAITS = f"import time\n{FACTS}\ntime.sleep(600)"
TIMEOUT_S = 60


def scoped(function: Callable[..., Any]) -> Callable[..., Any]:
    """To be awaited: called in a thread, as the platform."""

    def call(*arguments: Any) -> Any:
        with acting(platform()):
            return function(*arguments)

    return sync_to_async(call)


@pytest.fixture
def world() -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def queued(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world, argv=("python", "-c", WAITS), members=2, env={"MARK": "inside"})


@pytest.fixture
def running(queued: Workload) -> Iterator[Workload]:
    """A gang of two that runs until it is stopped."""
    yield until(queued, lambda workload: workload.status == Status.RUNNING)
    for member in Member.objects.exclude(handle=None):
        end(member)


def end(member: Member) -> None:
    driver_named("local").stop(Handle.from_dict(member.handle or {}), 0)


class Page:
    """What a page does: it draws what comes, says how much that was, and sends no more than is taken."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.seen = b""
        self.told: dict[str, Any] = {}
        self.code: int | None = None

    @classmethod
    async def of(cls, workload: Workload, user: User | None, rank: int | str = 0) -> "Page":
        return cls(await opened(await browser_of(user), f"/ws/terminals/{workload.pk}/?rank={rank}"))

    async def until(self, enough: Callable[["Page"], bool], *, draws: bool = True) -> "Page":
        async with asyncio.timeout(TIMEOUT_S):
            while not enough(self):
                message = await self.socket.receive_output(TIMEOUT_S)
                if message["type"] == "websocket.close":
                    self.code = message.get("code", 1000)
                elif message.get("bytes"):
                    self.seen += message["bytes"]
                    if draws:
                        await self.socket.send_json_to({"drawn": len(self.seen)})
                else:
                    self.told |= json.loads(message["text"])
        return self

    async def until_printed(self, text: str) -> "Page":
        return await self.until(lambda page: text.encode() in page.seen)

    async def until_closed(self) -> int:
        await self.until(lambda page: page.code is not None)
        assert self.code is not None
        return self.code

    async def type(self, data: bytes) -> None:
        await self.socket.send_to(bytes_data=data)

    async def leave(self) -> None:
        await self.socket.disconnect()


def audit_log() -> list[tuple[str, dict[str, Any]]]:
    rows = Entry.objects.filter(action__startswith="terminal.").order_by("pk")
    return [(row.action, row.after) for row in rows]
