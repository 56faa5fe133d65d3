"""Live data over real Redis: what happens reaches the page, a reconnect misses nothing and repeats nothing."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser

from apps.common.scoping import acting
from apps.tenants.models import User
from apps.workloads.choices import TERMINAL
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.selectors import log_chunk
from plstack.routing import websocket_urlpatterns
from tests.builders import make_member, make_organisation, make_world, platform, submit_workload
from tests.workloads.loops import tick, until

pytestmark = pytest.mark.django_db(transaction=True)
LINES = 20_000


def connect(path: str, user: User | AnonymousUser) -> WebsocketCommunicator:
    communicator = WebsocketCommunicator(URLRouter(websocket_urlpatterns), path)
    communicator.scope["user"] = user
    return communicator


@pytest.fixture
def scene() -> Iterator[tuple[Workload, User, User]]:
    """A queued workload that prints numbered lines, its owner, and a stranger."""
    program = f"import sys; sys.stdout.write(''.join(f'line {{i}}\\n' for i in range({LINES})))"
    with acting(platform()):
        world = make_world()
        stranger = make_member(make_organisation(), "charlie")
        with acting(world.actor):
            workload = submit_workload(world, argv=("python", "-c", program))
        yield workload, world.alice, stranger


def ended(workload: Workload) -> bool:
    return workload.status in TERMINAL


def in_scope(function: Any, *arguments: Any) -> Any:
    with acting(platform()):
        return function(*arguments)


async def received(socket: WebsocketCommunicator, enough: Any, timeout: float = 20) -> list[Any]:
    """Messages until `enough(messages)`."""
    messages: list[Any] = []
    while not enough(messages):
        messages.append(await asyncio.wait_for(socket.receive_json_from(timeout=timeout), timeout))
    return messages


async def test_changes_reach_the_page_and_a_reconnect_replays_what_was_missed(scene: Any) -> None:
    workload, alice, _stranger = scene
    group = f"workload.{workload.pk}"
    socket = connect("/ws/live/", alice)
    assert (await socket.connect())[0]
    await socket.send_json_to({"subscribe": [group], "last": 0})
    await asyncio.sleep(0.3)
    await sync_to_async(in_scope)(tick)
    live = await received(socket, lambda got: {"placed", "starting"} <= {m.get("status") for m in got})
    await socket.disconnect()
    seen = max(message["id"] for message in live if "id" in message)

    await sync_to_async(in_scope)(until, workload, ended)
    again = connect("/ws/live/", alice)
    await again.connect()
    await again.send_json_to({"subscribe": [group], "last": seen})
    missed = await received(again, lambda got: any(m.get("status") == "succeeded" for m in got))
    await again.disconnect()
    told = {message["id"] for message in live + missed if "id" in message}
    assert told == await sync_to_async(in_scope)(events_since, workload, min(told))


def events_since(workload: Workload, first: int) -> set[int]:
    """What happened before the page was opened is on the page already."""
    return set(Event.objects.filter(workload=workload, pk__gte=first).values_list("pk", flat=True))


async def test_the_log_resumes_by_byte_without_hole_or_repeat(scene: Any) -> None:
    workload, alice, _stranger = scene
    await sync_to_async(in_scope)(until, workload, ended)
    got, complete, cuts = b"", False, 0
    while not complete:
        socket = connect(f"/ws/logs/{workload.pk}/?offset={len(got)}", alice)
        assert (await socket.connect())[0]
        for _frame in range(2 + cuts % 2):  # hang up in the middle, over and over
            frame = await socket.receive_output(10)
            if frame.get("bytes"):
                got += frame["bytes"]
            elif frame.get("text"):
                control = json.loads(frame["text"])
                assert control["offset"] == len(got)
                complete = control["complete"]
            if complete:
                break
        cuts += 1
        await socket.disconnect()
    attempt = await sync_to_async(in_scope)(lambda: Attempt.objects.get(workload=workload))
    assert got == await sync_to_async(read_all)(attempt)
    assert [line for line in got.decode().splitlines() if line.startswith("line ")] == [
        f"line {i}" for i in range(LINES)
    ]


def read_all(attempt: Attempt) -> bytes:
    whole = b""
    while chunk := log_chunk(attempt, offset=len(whole)).data:
        whole += chunk
    return whole


async def test_outsiders_get_neither_events_nor_logs(scene: Any) -> None:
    workload, _alice, stranger = scene
    socket = connect("/ws/live/", stranger)
    await socket.connect()
    await socket.send_json_to({"subscribe": [f"workload.{workload.pk}", f"org.{workload.organisation_id}", "platform"]})
    refusals = [await socket.receive_json_from() for _ in range(3)]
    assert {message["code"] for message in refusals} == {"not_found"}
    await socket.disconnect()
    for person in (stranger, AnonymousUser()):
        assert not (await connect(f"/ws/logs/{workload.pk}/", person).connect())[0]
    assert not (await connect("/ws/live/", AnonymousUser()).connect())[0]


async def test_nonsense_is_answered_and_closes_nothing(scene: Any) -> None:
    _workload, alice, _stranger = scene
    socket = connect("/ws/live/", alice)
    await socket.connect()
    for nonsense in ("[]", "{}", '{"subscribe": 3}', '{"subscribe": ["workload.x"]}', '{"subscribe": [null]}'):
        await socket.send_to(text_data=nonsense)
        assert (await socket.receive_json_from())["kind"] == "error"
    await socket.disconnect()
