"""What pages hear: at once and then four times a second, nothing lost, and of others' work only that there is some."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from apps.common import hub
from apps.common.hub import Batch, Topic
from apps.common.live import organisation_group, publish_many_on_commit, recheck_rights_on_commit
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.services import members
from apps.tenants.sockets import CloseCode
from apps.workloads import announce
from apps.workloads.models import Workload
from tests.builders import World, make_member, make_organisation, make_world, platform, submit_workload
from tests.sockets import Socket, browser_of, closed_with, opened

pytestmark = pytest.mark.django_db(transaction=True)


class Page:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def hear(self, batch: Batch) -> None:
        self.batches.append(batch)

    def doubt_rights(self) -> None: ...

    def miss(self) -> None: ...


def status(word: str, event_id: int = 0, workload: str = "w") -> dict[str, Any]:
    return {"type": "workload.event", "id": event_id, "workload": workload, "kind": "status", "status": word}


async def test_a_burst_is_told_at_once_and_then_together_with_its_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "PAUSE_S", 0.05)
    topic, page = Topic("org.x"), Page()
    topic.listeners.add(page)
    for step in range(500):
        topic.take(status(f"step {step}"))
    assert [batch.messages[0]["status"] for batch in page.batches] == ["step 0"]
    while len(page.batches) < 2:
        await asyncio.sleep(0.01)
    assert [message["status"] for message in page.batches[1].messages] == ["step 499"]
    topic.close()


async def test_no_event_is_lost_in_a_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "PAUSE_S", 0.01)
    topic, page = Topic("org.x"), Page()
    topic.listeners.add(page)
    for number in range(1, 100):
        topic.take(status("queued", number))
        await asyncio.sleep(0.001 * (number % 3))
    while sum(len(batch.messages) for batch in page.batches) < 99:
        await asyncio.sleep(0.01)
    assert [message["id"] for batch in page.batches for message in batch.messages] == list(range(1, 100))
    assert len(page.batches) < 99
    topic.close()


async def test_others_have_their_turn_while_many_pages_are_told() -> None:
    """A slice in each turn of the event loop, requests in between; who leaves meanwhile hears nothing."""
    topic, pages = Topic("org.x"), [Page() for _ in range(10 * hub.SLICE)]
    topic.listeners.update(pages)

    def told() -> list[Page]:
        return [page for page in pages if page.batches]

    topic.take(status("queued", 1))
    assert len(told()) == hub.SLICE
    await asyncio.sleep(0)
    assert len(told()) == 2 * hub.SLICE
    left = next(page for page in pages if not page.batches)
    topic.listeners.discard(left)
    topic.take(status("running", 1))  # not before all have heard of the first
    for _turn in range(10):
        await asyncio.sleep(0)
    assert len(told()) == len(pages) - 1
    assert not left.batches
    assert {len(page.batches) for page in told()} == {1}
    topic.close()


async def test_whether_an_audience_is_concerned_is_asked_once() -> None:
    batch, asked = Batch("org.x", [status("queued", 1)], 1000), []

    def sees(message: dict[str, Any]) -> bool:
        asked.append(message)
        return message["status"] == "queued"

    assert all(batch.concerns("everyone", sees) for _page in range(1000))
    assert not batch.concerns("nobody", lambda _message: False)
    assert asked == batch.messages


async def test_what_all_may_see_is_put_into_words_once() -> None:
    batch, made = Batch("org.x", [status("queued", 1)], 1000), []
    for _page in range(1000):
        batch.frame("everyone", lambda each: made.append(each) or "frame")  # type: ignore[func-returns-value]
    assert len(made) == 1
    assert batch.spread_s == 1000 / hub.ASKING_PER_S


async def listening(user: Any, group: str) -> Socket:
    socket = await opened(await browser_of(user), "/ws/live/")
    assert await socket.subscribe(group) == []
    return socket


def in_scope(function: Any, *arguments: Any, **named: Any) -> Any:
    with acting(platform()):
        return function(*arguments, **named)


def busy_world() -> tuple[World, Workload, Any, Any, Any]:
    """Alice's run, an administrator and a colleague, and an administrator of another organisation."""
    world = make_world()
    with acting(world.actor):
        workload = submit_workload(world)
    chief, bob = make_member(world.organisation, "erin", Role.ADMIN), make_member(world.organisation, "bob")
    return world, workload, chief, bob, make_member(make_organisation(), "charlie", Role.ADMIN)


async def test_colleagues_hear_of_a_run_what_they_may_see_and_strangers_nothing() -> None:
    world, workload, chief, bob, charlie = await sync_to_async(in_scope)(busy_world)
    group = organisation_group(world.organisation.pk)
    sees = [await listening(user, group) for user in (world.alice, chief)]
    colleague, stranger = await listening(bob, group), await opened(await browser_of(charlie), "/ws/live/")
    foreign = {group, organisation_group(uuid4())}
    refusals = await stranger.subscribe(*foreign)
    assert {(refusal["code"], refusal["group"]) for refusal in refusals} == {("not_found", each) for each in foreign}
    await sync_to_async(in_scope)(announce.event, platform(), workload, "status", {})
    for socket in sees:
        [event] = (await socket.receive_json_from())["events"]
        assert (event["workload"], event["status"]) == (str(workload.pk), "queued")
        assert not {"owner", "type"} & event.keys()
    assert (await colleague.receive_json_from())["events"] == [{"group": group, "kind": "other"}]
    assert await stranger.receive_nothing()
    for socket in (*sees, colleague, stranger):
        await socket.disconnect()


async def test_nothing_more_is_said_once_the_rights_are_in_doubt() -> None:
    """Before anybody has read the rows: the removal and the next event come through the same line, in their order."""
    world, workload, chief, _bob, _charlie = await sync_to_async(in_scope)(busy_world)
    group = organisation_group(world.organisation.pk)
    socket = await listening(chief, group)

    def removed_and_gone_on() -> None:
        make_member(world.organisation, "frank", Role.ADMIN)  # an administrator has to stay
        members.remove_member(platform(), user_id=chief.pk, organisation_id=world.organisation.pk)
        announce.event(platform(), workload, "status", {})

    await sync_to_async(in_scope)(removed_and_gone_on)
    assert await closed_with(socket) == CloseCode.DENIED
    said = []
    while not socket.output_queue.empty():
        said.append(await socket.receive_output())
    assert not [frame for frame in said if frame["type"] == "websocket.send"]


async def test_what_was_held_back_is_said_once_the_rights_are_confirmed() -> None:
    world, workload, chief, _bob, _charlie = await sync_to_async(in_scope)(busy_world)
    socket = await listening(chief, organisation_group(world.organisation.pk))

    def doubted() -> None:
        recheck_rights_on_commit(chief.pk)
        announce.event(platform(), workload, "status", {})

    await sync_to_async(in_scope)(doubted)
    [event] = (await socket.receive_json_from())["events"]
    assert event["workload"] == str(workload.pk)
    await socket.disconnect()


async def test_pages_are_told_to_look_again_when_redis_has_been_away() -> None:
    world, workload, chief, _bob, _charlie = await sync_to_async(in_scope)(busy_world)
    group = organisation_group(world.organisation.pk)
    socket = await listening(chief, group)
    subscription: Any = hub.hub()._pubsub
    await subscription.connection.disconnect()
    assert (await socket.receive_json_from())["reset"] is True
    await sync_to_async(in_scope)(announce.event, platform(), workload, "status", {})
    [event] = (await socket.receive_json_from())["events"]
    assert event["workload"] == str(workload.pk)
    await socket.disconnect()


async def test_a_burst_beyond_counting_says_that_anything_may_have_changed() -> None:
    world, workload, chief, _bob, _charlie = await sync_to_async(in_scope)(busy_world)
    group = organisation_group(world.organisation.pk)
    socket = await listening(chief, group)
    burst = [([group], announce._message(workload, "status", 10_000 + n)) for n in range(hub.MOST_AT_ONCE + 2)]
    await sync_to_async(publish_many_on_commit)(burst)
    while "reset" not in (frame := json.loads((await socket.receive_output())["text"])):
        assert frame["events"]
    assert "events" not in frame
    await socket.disconnect()
