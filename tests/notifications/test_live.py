"""A notice rings the bell of the person whom it tells, and nobody else's."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.common.scoping import acting
from apps.notifications.services import notify_user
from apps.tenants.models import Organisation, User
from tests.builders import make_member, make_organisation, platform
from tests.sockets import Socket, browser_of, opened

pytestmark = pytest.mark.django_db(transaction=True)


def people() -> tuple[Organisation, User, User]:
    with acting(platform()):
        lab = make_organisation(balance_fen=0)
        return lab, make_member(lab, "alice"), make_member(lab, "bob")


async def connected(user: User, *groups: str) -> tuple[Socket, list[dict[str, Any]]]:
    """A page that listens to `groups`, and what it was told when it asked for them."""
    socket = await opened(await browser_of(user), "/ws/live/")
    return socket, await socket.subscribe(*groups)


def tell(lab: Organisation, user: User) -> None:
    notify_user(organisation_id=lab.pk, user_id=user.pk, kind="run.failed", data={"name": "digits"})


async def test_only_the_person_told_hears_it() -> None:
    lab, alice, bob = await sync_to_async(people)()
    hers, _said = await connected(alice, f"user.{alice.pk}")
    his, _said = await connected(bob, f"user.{bob.pk}")
    await sync_to_async(tell)(lab, alice)
    assert await hers.receive_json_from() == {
        "events": [{"group": f"user.{alice.pk}", "kind": "notice"}],
        "spread": 0.0,
    }
    assert await his.receive_nothing(timeout=0.5)
    for socket in (hers, his):
        await socket.disconnect()


async def test_nobody_listens_at_another_persons_bell() -> None:
    _lab, alice, bob = await sync_to_async(people)()
    socket, [refusal] = await connected(bob, f"user.{alice.pk}")
    assert refusal["code"] == "not_found"
    await socket.disconnect()
