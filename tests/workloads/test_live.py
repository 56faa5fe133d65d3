"""Live data over real Redis: what happens reaches the page, a reconnect misses nothing and repeats nothing."""

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from apps.common.scoping import acting
from apps.tenants.models import User
from apps.tenants.sockets import CloseCode
from apps.workloads.choices import TERMINAL, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.selectors import log_chunk
from tests.builders import make_member, make_organisation, make_world, platform, submit_workload
from tests.sockets import Socket, browser_of, closed_with, opened, socket_of
from tests.workloads.loops import tick, until

pytestmark = pytest.mark.django_db(transaction=True)
LINES = 20_000


async def connect(path: str, user: User | None) -> Socket:
    return await opened(await browser_of(user), path)


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


async def received(socket: Socket, enough: Any) -> list[Any]:
    """Messages until `enough(messages)`."""
    messages: list[Any] = []
    while not enough(messages):
        messages += (await socket.receive_json_from())["events"]
    return messages


@pytest.mark.programs
async def test_changes_reach_the_page_and_a_reconnect_replays_what_was_missed(scene: Any) -> None:
    workload, alice, _stranger = scene
    group = f"workload.{workload.pk}"
    socket = await connect("/ws/live/", alice)
    assert await socket.subscribe(group, last=0) == []
    await sync_to_async(in_scope)(tick)
    live = await received(socket, lambda got: {"placed", "starting"} <= {m.get("status") for m in got})
    await socket.disconnect()
    seen = max(message["id"] for message in live if "id" in message)

    await sync_to_async(in_scope)(until, workload, ended)
    again = await connect("/ws/live/", alice)
    await again.send_json_to({"subscribe": [group], "last": seen})
    missed = await received(again, lambda got: any(m.get("status") == "succeeded" for m in got))
    await again.disconnect()
    told = {message["id"] for message in live + missed if "id" in message}
    assert told == await sync_to_async(in_scope)(events_since, workload, min(told))


def events_since(workload: Workload, first: int) -> set[int]:
    """What happened before the page was opened is on the page already."""
    return set(Event.objects.filter(workload=workload, pk__gte=first).values_list("pk", flat=True))


@pytest.mark.programs
async def test_the_log_resumes_by_byte_without_hole_or_repeat(scene: Any) -> None:
    workload, alice, _stranger = scene
    await sync_to_async(in_scope)(until, workload, ended)
    got, complete, cuts = b"", False, 0
    while not complete:
        socket = await connect(f"/ws/logs/{workload.pk}/?offset={len(got)}", alice)
        for _frame in range(2 + cuts % 2):  # hang up in the middle, over and over
            frame = await socket.receive_output()
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


@pytest.mark.programs
async def test_a_watcher_may_begin_with_the_end_and_learns_the_times(scene: Any) -> None:
    workload, alice, _stranger = scene
    await sync_to_async(in_scope)(until, workload, ended)
    attempt = await sync_to_async(in_scope)(lambda: Attempt.objects.get(workload=workload))
    whole = await sync_to_async(read_all)(attempt)
    socket = await connect(f"/ws/logs/{workload.pk}/?tail=1000", alice)
    first = await socket.receive_json_from()
    assert (first["offset"], first["complete"]) == (whole.rindex(b"\n", 0, len(whole) - 1000) + 1, False)
    got, times, control = b"", list[Any](), first
    while not control["complete"]:
        frame = await socket.receive_output()
        got += frame.get("bytes") or b""
        control = json.loads(frame.get("text") or json.dumps(control))
        times += control.get("times", [])
    await socket.disconnect()
    assert got == whole[first["offset"] :]
    assert times[0][0] <= first["offset"] < len(whole)
    assert abs(times[0][1] / 1000 - time.time()) < 300


@pytest.mark.programs
async def test_a_log_that_was_cut_goes_on_from_what_is_left() -> None:
    program = "import time\nfor n in range(1000): print('line', n, flush=True)\ntime.sleep(60)"
    workload, alice = await sync_to_async(in_scope)(printing, program)
    await sync_to_async(in_scope)(until, workload, lambda found: found.status == Status.RUNNING)
    attempt = await sync_to_async(in_scope)(lambda: Attempt.objects.get(workload=workload))
    socket, got = await connect(f"/ws/logs/{workload.pk}/", alice), b""
    while b"line 999\n" not in got:
        got += (await socket.receive_output()).get("bytes") or b""
    os.truncate(settings.PLSTACK_HOME / "runs" / str(attempt.pk) / "log", 100)
    control: dict[str, Any] = {}
    while not control.get("cut"):
        control = json.loads((await socket.receive_output()).get("text") or "{}")
    assert control["offset"] <= 100
    left = b""
    while len(left) < 100 - control["offset"]:
        left += (await socket.receive_output()).get("bytes") or b""
    assert left == got[control["offset"] : 100]
    await socket.disconnect()
    await sync_to_async(in_scope)(lambda: driver_named("local").stop(Handle.from_dict(attempt.handle), 0))


def printing(program: str) -> tuple[Workload, User]:
    world = make_world()
    with acting(world.actor):
        return submit_workload(world, argv=("python", "-c", program)), world.alice


def read_all(attempt: Attempt) -> bytes:
    whole = b""
    while chunk := log_chunk(attempt, offset=len(whole)).data:
        whole += chunk
    return whole


async def test_outsiders_get_neither_events_nor_logs(scene: Any) -> None:
    workload, _alice, stranger = scene
    socket = await connect("/ws/live/", stranger)
    await socket.send_json_to({"subscribe": [f"workload.{workload.pk}", f"org.{workload.organisation_id}", "platform"]})
    refusals = [await socket.receive_json_from() for _ in range(3)]
    assert {message["code"] for message in refusals} == {"not_found"}
    await socket.disconnect()
    assert await closed_with(await connect(f"/ws/logs/{workload.pk}/", stranger)) == CloseCode.NOT_FOUND
    for path in (f"/ws/logs/{workload.pk}/", "/ws/live/", "/ws/live/?portal=console"):
        assert await closed_with(await connect(path, None)) == CloseCode.SIGNED_OUT
    assert await closed_with(await connect("/ws/live/?portal=console", stranger)) == CloseCode.DENIED


async def test_nonsense_is_answered_and_closes_nothing(scene: Any) -> None:
    _workload, alice, _stranger = scene
    socket = await connect("/ws/live/", alice)
    for nonsense in ("{}", '{"subscribe": 3}', '{"subscribe": ["workload.x"]}', '{"subscribe": [null]}'):
        await socket.send_to(text_data=nonsense)
        assert (await socket.receive_json_from())["kind"] == "error"
    await socket.disconnect()


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"text": "{"}, CloseCode.NOT_JSON),
        ({"text": "[" * 10_000}, CloseCode.NOT_JSON),
        ({"text": "[]"}, CloseCode.NOT_TEXT),
        ({"text": "3"}, CloseCode.NOT_TEXT),
        ({"text": "null"}, CloseCode.NOT_TEXT),
        ({"bytes": b"{}"}, CloseCode.NOT_TEXT),
        ({"text": json.dumps({"subscribe": ["x" * 2_000_000]})}, CloseCode.TOO_LARGE),
    ],
)
@pytest.mark.parametrize("path", ["/ws/live/", "log"])
async def test_a_frame_that_no_page_sends_closes_the_connection_in_order(
    scene: Any, path: str, frame: dict[str, Any], code: CloseCode
) -> None:
    workload, alice, _stranger = scene
    socket = await connect(path.replace("log", f"/ws/logs/{workload.pk}/"), alice)
    await socket.send_input({"type": "websocket.receive", **frame})
    assert await closed_with(socket) == code
    await socket.disconnect()


@pytest.mark.parametrize("offset", ["9" * 5000, str(2**63), "-1", "1_0", "%EF%BC%91", "x"])
async def test_an_offset_that_no_log_has_is_refused(scene: Any, offset: str) -> None:
    workload, alice, _stranger = scene
    assert await closed_with(await connect(f"/ws/logs/{workload.pk}/?offset={offset}", alice)) == CloseCode.BAD_ADDRESS


async def test_the_last_offset_that_a_log_could_have_is_taken(scene: Any) -> None:
    workload, alice, _stranger = scene
    socket = await connect(f"/ws/logs/{workload.pk}/?offset={2**63 - 1}", alice)
    assert (await socket.receive_json_from())["offset"] == 2**63 - 1
    await socket.disconnect()


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://localhost",
        "http://localhost:8601",
        "https://localhost:8600",
        "http://evil.example",
        "http://apps.localhost:8601",
        "http://127.0.0.1:8600",
    ],
)
async def test_only_the_portals_own_pages_open_a_connection(scene: Any, origin: str | None) -> None:
    _workload, alice, _stranger = scene
    browser = await browser_of(alice)
    assert not (await socket_of(browser, "/ws/live/", origin=origin).connect())[0]


async def test_a_page_on_an_origin_that_the_operator_names_is_the_portals_own(scene: Any, settings: Any) -> None:
    _workload, alice, _stranger = scene
    settings.CSRF_TRUSTED_ORIGINS = ["https://lab.example"]
    socket = socket_of(await browser_of(alice), "/ws/live/", origin="https://lab.example")
    assert (await socket.connect())[0]
    await socket.disconnect()
