"""Every WebSocket ends with the right to it: found by itself, each in each of the ways that rights end."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.common import grants
from apps.common.access import Access, Realm
from apps.common.errors import DomainError, SignedOut
from apps.common.grants import Grant
from apps.common.live import organisation_group, person_group, publish_on_commit, workload_group
from apps.common.scoping import acting
from apps.tenants import services as tenants
from apps.tenants import session_actors, settings
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User
from apps.tenants.second_factor import Rule, SecuritySettings
from apps.tenants.services import members
from apps.tenants.session_actors import SessionActors
from apps.tenants.sockets import AuthorisedConsumer, CloseCode, close_code, recheck_of_sessions
from apps.workloads.consumers import LiveConsumer
from apps.workloads.models import Workload
from plstack.routing import websocket_urlpatterns
from tests.architecture import endings
from tests.architecture.endings import Ending, Holder
from tests.architecture.routes import KEY
from tests.builders import (
    World,
    make_member,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    submit_workload,
    unique,
)
from tests.sockets import closed_with, opened

pytestmark = pytest.mark.django_db(transaction=True)
FAST_S = 0.2
# It needs a program that runs, staff never get it, and a frozen organisation keeps nobody in it:
# tests/workloads/test_terminal_ends.py has each of the endings.
TERMINALS = "ws/terminals/<uuid:workload_id>/"
CODES = {
    endings.removed: {CloseCode.DENIED},
    endings.role_lost: {CloseCode.DENIED, CloseCode.NOT_FOUND},
    endings.disabled: {CloseCode.SIGNED_OUT, CloseCode.DENIED},  # by which of its queries a look notices first
    endings.signed_out: {CloseCode.SIGNED_OUT},
    endings.session_expired: {CloseCode.SIGNED_OUT},
    endings.password_changed: {CloseCode.SIGNED_OUT},
}


@dataclass(frozen=True, slots=True)
class Scene:
    world: World
    workload: Workload
    clients: dict[bool, Client]  # by whether they are of the staff
    holders: dict[bool, Holder]

    def paths(self) -> Iterator[tuple[str, bool]]:
        """Every WebSocket route as its page asks for it, in the portal and in the console."""
        values = {"workload_id": self.workload.pk}
        patterns = [str(pattern.pattern) for pattern in websocket_urlpatterns]
        patterns.remove(TERMINALS)
        for pattern in patterns:
            path = "/" + KEY.sub(lambda found: str(values[found[1]]), pattern)
            yield path, False
            yield f"{path}?portal=console", True

    def group(self) -> str:
        return organisation_group(self.world.organisation.pk)

    def subscription(self) -> dict[str, Any]:
        groups = [workload_group(self.workload.pk), self.group(), "platform"]
        return {"subscribe": groups, "last": 0}


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr(grants, "RECHECK_S", FAST_S)
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
        make_member(world.organisation, "erin", Role.ADMIN)  # an administrator has to stay
        with acting(world.actor):
            workload = submit_workload(world)
        people = {False: world.alice, True: make_staff()}
        clients = {of_staff: signed_in(user) for of_staff, user in people.items()}
        holders = {
            of_staff: Holder(user, world.organisation, clients[of_staff].session.session_key or "")
            for of_staff, user in people.items()
        }
        yield Scene(world, workload, clients, holders)


def in_scope(function: Any, *arguments: Any, **named: Any) -> Any:
    with acting(platform()):
        return function(*arguments, **named)


async def open_all(scene: Scene) -> list[tuple[WebsocketCommunicator, str]]:
    sockets = []
    for path, of_staff in scene.paths():
        socket = await opened(scene.clients[of_staff], path)
        await socket.send_json_to(scene.subscription())
        sockets.append((socket, path))
    await asyncio.sleep(3 * FAST_S)
    return sockets


def test_every_websocket_asks_again() -> None:
    for pattern in websocket_urlpatterns:
        consumer = pattern.callback.consumer_class
        assert issubclass(consumer, AuthorisedConsumer), (
            f"{pattern.pattern} would go on after its person's right has ended"
        )
        for method in ("connect", "disconnect", "receive", "_watch"):
            assert method not in vars(consumer), f"{consumer.__name__}.{method} goes round the check"


@pytest.mark.parametrize("end", endings.OF_A_SESSION)
async def test_every_websocket_ends(scene: Scene, end: Ending) -> None:
    sockets = await open_all(scene)
    for of_staff in (False, True):
        await sync_to_async(in_scope)(end, scene.holders[of_staff])
    for socket, path in sockets:
        assert await closed_with(socket) in CODES[end], f"{path} after {end.__name__}"


async def test_whoever_keeps_the_right_is_not_disturbed(scene: Scene) -> None:
    """Another role that allows it, a frozen organisation, which reads on, a sign-out in another browser."""
    sockets = await open_all(scene)
    member = Membership.objects.filter(user=scene.world.alice)
    await sync_to_async(in_scope)(member.update, role=Role.MEMBER)
    await sync_to_async(in_scope)(endings.frozen, scene.holders[False])
    await sync_to_async(in_scope)(lambda: signed_in(scene.world.alice).logout())
    other = await sync_to_async(in_scope)(make_organisation)
    await sync_to_async(in_scope)(tenants.add_member, platform(), organisation_id=other.pk, user=scene.world.alice)
    await sync_to_async(in_scope)(type(scene.world.alice).objects.update, current_organisation=other)
    await asyncio.sleep(4 * FAST_S)
    for socket, path in sockets:
        for _message in range(socket.output_queue.qsize()):  # until nothing comes would never end on a busy machine
            assert (await socket.receive_output())["type"] != "websocket.close", path
        await socket.disconnect()


async def test_nothing_is_told_after_the_right_has_ended(scene: Scene) -> None:
    group = organisation_group(scene.world.organisation.pk)
    socket = await opened(scene.clients[False], "/ws/live/")
    assert await socket.subscribe(group) == []
    message = {"type": "workload.event", "id": 0, "kind": "progress"}
    await sync_to_async(publish_on_commit)([group], message)
    [event] = (await socket.receive_json_from())["events"]
    assert event["kind"] == "progress"
    await sync_to_async(in_scope)(endings.removed, scene.holders[False])
    assert await closed_with(socket) == CloseCode.DENIED
    await sync_to_async(publish_on_commit)([group], message)
    assert await socket.receive_nothing(timeout=0.5)


async def test_the_services_nudge_so_that_it_ends_at_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far sooner than the timer, which is the truth and may be all that there is."""
    monkeypatch.setattr(grants, "RECHECK_S", 3600.0)
    socket = await opened(scene.clients[False], "/ws/live/")
    await asyncio.sleep(FAST_S)
    removal = {"user_id": scene.world.alice.pk, "organisation_id": scene.world.organisation.pk}
    await sync_to_async(in_scope)(members.remove_member, platform(), **removal)
    assert await closed_with(socket) == CloseCode.DENIED


def test_asking_again_costs_four_queries_however_much_the_page_shows(scene: Scene) -> None:
    """One for the account and its session, one for the memberships, one for the second factor's rule, one for all
    that the page has joined: at one look in 12 s, 500 open tabs ask less than 170 of these a second.
    """
    with acting(scene.world.actor):
        workloads = [scene.workload, *(submit_workload(scene.world) for _ in range(4))]
    consumer = LiveConsumer()
    consumer.joined = frozenset({*(workload_group(each.pk) for each in workloads), person_group(scene.world.alice.pk)})
    actors = SessionActors(scene.world.alice, scene.holders[False].session_key)
    grant = Grant(actors, Access(Realm.ORGANISATION), consumer.require_visible)
    with CaptureQueriesContext(connection) as queries:
        grant.recheck()
    assert len(queries) <= 4, [query["sql"] for query in queries]


def admins(world: World, count: int) -> list[User]:
    return [make_member(world.organisation, unique("admin"), Role.ADMIN) for _ in range(count)]


def grants_of(scene: Scene, users: list[User], realm: Realm = Realm.ORGANISATION) -> list[Grant]:
    """Those of a page each that shows a list."""
    made = []
    for user in users:
        actors, page = SessionActors(user, signed_in(user).session.session_key or ""), LiveConsumer()
        page.joined = frozenset({"platform" if realm is Realm.PLATFORM else scene.group()})
        made.append(Grant(actors, Access(realm), page.require_visible, recheck_of_sessions))
        made[-1].recheck()
    return made


@pytest.mark.parametrize("enforced", [False, True])
@pytest.mark.parametrize("realm", [Realm.ORGANISATION, Realm.PLATFORM])
def test_a_thousand_pages_are_asked_about_in_as_many_queries_as_one(scene: Scene, realm: Realm, enforced: bool) -> None:
    """The accounts, their sessions, their memberships or roles, the second factor's rule, and who has one."""
    users = admins(scene.world, 30) if realm is Realm.ORGANISATION else [make_staff() for _ in range(30)]
    grants = grants_of(scene, users, realm)
    if enforced:
        settings.put(platform(), SecuritySettings(Rule.ON))
        for user in users:
            Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    counts = []
    for some in (grants[:1], grants):
        with CaptureQueriesContext(connection) as queries:
            assert recheck_of_sessions(some) == [None] * len(some)
        counts.append(len(queries))
    assert counts == [4 + enforced] * 2


@pytest.mark.parametrize("end", endings.OF_A_SESSION)
def test_who_is_asked_about_with_others_loses_their_own_right_alone(scene: Scene, end: Ending) -> None:
    users = admins(scene.world, 5)
    grants = grants_of(scene, users)
    key = grants[2]._actors.session_key  # type: ignore[attr-defined]
    in_scope(end, Holder(users[2], scene.world.organisation, key))
    found = recheck_of_sessions(grants)
    assert isinstance(found[2], DomainError)
    assert close_code(found[2]) in CODES[end]
    assert [each for each in found if each is not None] == [found[2]]


def test_somebody_elses_session_is_no_proof(scene: Scene) -> None:
    users = admins(scene.world, 2)
    grants = grants_of(scene, users)
    for grant in grants:
        grant._actors.session_key = grants[1]._actors.session_key  # type: ignore[attr-defined]
    mistaken, right = recheck_of_sessions(grants)
    assert isinstance(mistaken, SignedOut)
    assert right is None


def test_what_cannot_be_read_of_one_says_nothing_about_the_others(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = admins(scene.world, 3)
    grants = grants_of(scene, users)
    proof = session_actors._require_proof

    def broken(user: User, data: str) -> None:
        if user == users[0]:
            raise ZeroDivisionError
        proof(user, data)

    monkeypatch.setattr(session_actors, "_require_proof", broken)
    endings.signed_out(Holder(users[1], scene.world.organisation, grants[1]._actors.session_key))  # type: ignore[attr-defined]
    assert [type(each) for each in recheck_of_sessions(grants)] == [ZeroDivisionError, SignedOut, type(None)]
