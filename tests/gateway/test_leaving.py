"""Open connections end with the try that they lead to: when its work waits again, has ended, or runs elsewhere."""

import asyncio
from typing import cast
from uuid import UUID

import pytest

from apps.workloads.drivers.base import Endpoint
from apps.workloads.gateway.admissions import Admission, Admissions, Key
from apps.workloads.gateway.hosts import Address
from apps.workloads.gateway.passes import Visitor
from apps.workloads.gateway.targets import State, Target

HERE, THERE = Endpoint(socket_path="/here"), Endpoint(socket_path="/there")
KEY = Key("digest", Address(UUID(int=1)))


def ends(*targets: Target) -> bool:
    """Whether a connection that was opened to the first target is ended by what is found of it later."""

    async def looked_at() -> bool:
        found = iter(targets)

        async def ask(key: Key) -> Admission | None:
            return Admission(key, cast(Visitor, None), next(found))

        admissions = Admissions(ask)
        await admissions.get(KEY)
        with admissions.held(KEY) as revoked:
            for _later in targets[1:]:
                await admissions._recheck(KEY)
            return revoked.done()

    return asyncio.run(looked_at())


@pytest.mark.parametrize(
    ("later", "ended"),
    [
        ([Target(State.READY, HERE)], False),
        ([Target(State.READY, THERE)], True),
        ([Target(State.WAITING)], True),
        ([Target(State.ENDED)], True),
        ([Target(State.STARTING)], False),
        ([Target(State.UNSEEN)], False),
        ([Target(State.UNSEEN), Target(State.READY, HERE)], False),
        ([Target(State.UNSEEN), Target(State.READY, THERE)], True),
    ],
)
def test_a_connection_ends_with_the_try_that_it_leads_to(later: list[Target], ended: bool) -> None:
    assert ends(Target(State.READY, HERE), *later) is ended
