"""A download lasts as long as the right to it, also while its client reads nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.db import OperationalError

from apps.common import grants
from apps.common.access import Access, Realm
from apps.common.actor import Actor, system_actor
from apps.common.errors import Denied, DomainError, SignedOut, Unavailable
from apps.common.grants import Grant
from apps.common.permissions import Permission
from apps.common.streams import Stream, while_holding
from plstack.requests import RequestHandler

FAST_S = 0.05
PATIENCE_S = 60.0  # for what ends in a failure
PART = b"x" * 1024


class Person:
    """Stands for the actors of a request; `outcome` is raised the next time that they are read."""

    def __init__(self) -> None:
        self.outcome: Exception | None = None
        self.asked = 0

    def get(self, realm: Realm) -> Actor:
        return system_actor()

    def admit(self, actor: Actor) -> None:
        """Enough proof."""

    def reloaded(self) -> "Person":
        self.asked += 1
        if self.outcome is not None:
            raise self.outcome
        return self


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setattr(grants, "RECHECK_S", FAST_S)
    return Person()


async def asked_again(person: Person, times: int) -> None:
    """Wait until the person's rights have been read so often since this call."""
    wanted = person.asked + times
    async with asyncio.timeout(PATIENCE_S):
        while person.asked < wanted:
            await asyncio.sleep(FAST_S / 10)


def grant_of(person: Person) -> Grant:
    return Grant(person, Access(Realm.SELF), lambda _actor: None)


class Sending(RequestHandler):
    """The server's part of a streamed answer, without a view in front of it."""

    def __init__(self) -> None:
        """No middleware is needed."""


class Transport:
    """What an ASGI server is told; `room` is how many parts the client takes before it stalls."""

    def __init__(self, room: int) -> None:
        self.messages: list[dict[str, Any]] = []
        self.room = room

    async def send(self, message: dict[str, Any]) -> None:
        if len(self.messages) > self.room:
            await asyncio.Event().wait()
        self.messages.append(message)

    @property
    def is_whole(self) -> bool:
        return any(m["type"] == "http.response.body" and not m.get("more_body") for m in self.messages)


class Parts:
    """The body; knows whether its reader has closed it."""

    def __init__(self, count: int | None) -> None:
        self.count, self.closed = count, False

    async def read(self) -> AsyncIterator[bytes]:
        number = 0
        try:
            while self.count is None or number < self.count:
                number += 1
                await asyncio.sleep(FAST_S / 10)
                yield PART
        finally:
            self.closed = True


def stream_of(person: Person, parts: Parts) -> Stream:
    response = Stream(parts.read(), visible=lambda _actor: None, content_type="text/plain")
    response.bind(person, Access(Realm.SELF))
    return response


@pytest.mark.parametrize("room", [3, 10**9])
async def test_a_download_breaks_off_and_does_not_look_whole(person: Person, room: int) -> None:
    """`room` 3: the client has stopped reading, so nothing but the timer can notice."""
    parts, transport = Parts(None), Transport(room)
    sending = asyncio.create_task(Sending().send_response(stream_of(person, parts), transport.send))
    await asked_again(person, 2)
    assert not sending.done()
    person.outcome = SignedOut()
    async with asyncio.timeout(PATIENCE_S):
        await sending
    assert parts.closed
    assert not transport.is_whole


async def test_a_download_that_ends_by_itself_is_whole_and_asks_no_more(person: Person) -> None:
    parts, transport = Parts(20), Transport(10**9)
    await Sending().send_response(stream_of(person, parts), transport.send)
    assert transport.is_whole
    assert sum(len(m.get("body", b"")) for m in transport.messages) == 20 * len(PART)
    asked = person.asked
    await asyncio.sleep(4 * FAST_S)
    assert person.asked == asked


@pytest.mark.parametrize("trouble", [OperationalError("gone"), Unavailable("gone")])
async def test_not_knowing_is_no_reason_until_it_has_lasted_too_long(
    person: Person, trouble: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    losing = asyncio.create_task(grant_of(person).wait_until_lost())
    person.outcome = trouble
    await asked_again(person, 4)
    assert not losing.done()
    monkeypatch.setattr(grants, "BLIND_S", 0.0)
    async with asyncio.timeout(PATIENCE_S):
        assert isinstance(await losing, DomainError)


async def test_a_fault_while_asking_ends_it(person: Person) -> None:
    """Whatever cannot be confirmed for a reason that nobody foresaw is over."""
    person.outcome = ZeroDivisionError()
    transport = Transport(10**9)
    with pytest.raises(ZeroDivisionError):
        await Sending().send_response(stream_of(person, Parts(None)), transport.send)
    assert not transport.is_whole


async def test_a_nudge_asks_at_once(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grants, "RECHECK_S", 3600.0)
    grant = grant_of(person)
    losing = asyncio.create_task(grant.wait_until_lost())
    await asyncio.sleep(0)
    person.outcome = SignedOut()
    grant.recheck_soon()
    async with asyncio.timeout(PATIENCE_S):
        assert isinstance(await losing, SignedOut)


def test_the_longest_pause_leaves_room_within_the_promise() -> None:
    assert grants.RECHECK_S * (1 + grants.SPREAD) <= 15.0


def test_rows_end_with_the_permission_that_they_were_chosen_by() -> None:
    def actor(*permissions: Permission) -> Actor:
        return Actor(1, "Alice", None, permissions=frozenset(permissions))

    visible = while_holding(actor(Permission.BILLING_VIEW), Permission.BILLING_VIEW, Permission.BILLING_TOP_UP)
    visible(actor(Permission.BILLING_VIEW))
    with pytest.raises(Denied):
        visible(actor(Permission.BILLING_TOP_UP))
