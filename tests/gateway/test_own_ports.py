"""Ports that people name: their owner alone opens them, and their organisation while the owner shares them."""

import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.workloads import nodes, reach
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.local.environment import EGRESS_PORT
from apps.workloads.gateway import hosts, passes
from apps.workloads.gateway.hosts import Address
from apps.workloads.models import GatewaySession, Member, SharedPort, Workload
from apps.workloads.ports import declaring
from apps.workloads.ports.sharing import openable, set_shared
from apps.workloads.spec import Port
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    platform,
    reload,
    signed_in,
    staff_actor,
)
from tests.gateway.kit import PORT, PROGRAM, Site, alice, enter, knock, submit
from tests.gateway.test_sockets import socket
from tests.searching import examples
from tests.workloads.loops import until

PORTS = (Port("tool", PORT + 1), Port("demo", PORT, 0, "The demo", own=True), Port("idle", PORT + 2, own=True))


@pytest.fixture
def served(world: World, home: Any) -> Iterator[Workload]:
    """Running work of Alice's whose program listens on the port `demo`."""
    workload = submit(world, ("python", "-c", PROGRAM, str(PORT), "0"), ports=PORTS)
    yield until(workload, lambda one: one.status == Status.RUNNING)
    for attempt in workload.attempts.all():
        if attempt.handle:
            nodes.local_driver().stop(Handle.from_dict(attempt.handle), 0)


def is_listening(world: World, workload: Workload, name: str = "demo") -> None:
    end = time.monotonic() + 60
    while True:
        with suppress(reach.NotListening):
            reach.endpoint(world.actor, workload, name)
            return
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_colleague_gets_in_while_it_is_shared_and_is_put_out_again(
    site: Site, world: World, served: Workload
) -> None:
    is_listening(world, served)
    bob = signed_in(make_member(world.organisation, "bob"))
    stranger = signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))
    own = enter(site, alice(world), served, "demo")
    assert own.get("/").body == b"hello from inside"
    assert own.address == Address(served.pk, "demo")
    assert knock(bob, served, "demo")[0] == 404

    set_shared(world.actor, served.pk, "demo", shared=True)
    guest = enter(site, bob, served, "demo")
    assert guest.get("/").body == b"hello from inside"
    assert knock(stranger, served, "demo")[0] == 404
    assert knock(bob, served, "tool")[0] == 404
    assert knock(bob, served, "idle")[0] == 404

    other_host = site.ask("GET", Address(served.pk, "idle"), "/", headers=guest.headers())
    assert other_host.status == 401, "a cookie of one port opens no other"

    with socket(guest) as stream:
        stream.send("hello")
        assert stream.recv(timeout=60) == "hello"
        set_shared(world.actor, served.pk, "demo", shared=False)
        with pytest.raises(ConnectionClosed) as closed:
            stream.recv(timeout=60)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4403
    end = time.monotonic() + 60
    while guest.get("/").status != 401:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert own.get("/").body == b"hello from inside"
    assert knock(bob, served, "demo")[0] == 404


def test_what_listens_not_yet_says_so(site: Site, world: World, served: Workload) -> None:
    answer = enter(site, alice(world), served, "idle").get("/", Accept="text/html")
    assert (answer.status, "nothing listens on this port yet" in answer.body.decode()) == (503, True)


SERVES = "import http.server, os; rank = int(os.environ['PLSTACK_RANK']); " + (
    "http.server.HTTPServer(('127.0.0.1', 7000 + rank), http.server.SimpleHTTPRequestHandler).serve_forever()"
)


@pytest.mark.programs
def test_a_port_of_another_member_is_found_there(world: World, home: Any) -> None:
    ports = (Port("zero", 7000, own=True), Port("one", 7001, 1, own=True))
    gang = submit(world, ("python", "-c", SERVES), ports=ports, members=2)
    with acting(platform()):
        until(gang, lambda one: one.status == Status.RUNNING)
        try:
            for name in ("zero", "one"):
                is_listening(world, gang, name)
            handles = [member.handle for member in Member.objects.order_by("rank")]
            assert reach._running_program(reload(gang), 1)[1] == Handle.from_dict(handles[1])
        finally:
            for member in Member.objects.exclude(handle=None):
                nodes.local_driver().stop(Handle.from_dict(member.handle), 0)


PEOPLE = ("alice", "bob", "carol", "charlie", "staff")
STEPS = st.sampled_from(["share demo", "share idle", "hide demo", "hide idle", "end", "revive"])


@pytest.fixture
def people(world: World) -> dict[str, Actor]:
    elsewhere = make_organisation()
    return {
        "alice": world.actor,
        "bob": actor_of(make_member(world.organisation, "bob"), world.organisation),
        "carol": actor_of(make_member(world.organisation, "carol", Role.ADMIN), world.organisation),
        "charlie": actor_of(make_member(elsewhere, "charlie", Role.ADMIN), elsewhere),
        "staff": staff_actor(make_staff()),
    }


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=6))
def test_nobody_outside_the_rule_is_ever_let_in(
    world: World, people: dict[str, Actor], queued_ports: Workload, steps: list[str]
) -> None:
    """By whatever was shared and taken back before: the owner always, colleagues what is shared of what lives."""
    with acting(platform()), transaction.atomic():
        SharedPort.objects.all().delete()
        Workload.objects.filter(pk=queued_ports.pk).update(status=Status.QUEUED)
    shared, lives = set[str](), True
    for step in steps:
        what, _, name = step.partition(" ")
        if what in ("end", "revive"):
            lives = what == "revive"
            status = Status.QUEUED if lives else Status.STOPPED
            with acting(platform()):
                Workload.objects.filter(pk=queued_ports.pk).update(status=status)
            continue
        with acting(world.actor), pytest.raises(Conflict) if what == "share" and not lives else nullcontext():
            set_shared(world.actor, queued_ports.pk, name, shared=what == "share")
        if what == "share" and not lives:
            continue
        shared = shared | {name} if what == "share" else shared - {name}
    for who in PEOPLE:
        for port in ("tool", "demo", "idle"):
            may = who == "alice" or (lives and who in ("bob", "carol") and port in shared)
            assert enters(people[who], queued_ports, port) is may, (who, port)


@pytest.fixture
def queued_ports(world: World) -> Workload:
    return submit(world, ("python", "-c", "pass"), ports=PORTS)


def enters(actor: Actor, workload: Workload, port: str) -> bool:
    """Whether the portal would give a code, and whether the gateway's machine would be asked: both say the same."""
    found = []
    with acting(actor):
        try:
            openable(actor, workload.pk, port)
            found.append(True)
        except DomainError:
            found.append(False)
    with acting(platform()):
        fresh = Workload.objects.get(pk=workload.pk)
    with acting(actor):
        try:
            reach.endpoint(actor, fresh, port)
        except Conflict:  # let in as far as to what does not run
            found.append(True)
        except DomainError:
            found.append(False)
    assert len(set(found)) == 1, found
    return found[0]


def test_a_share_ends_with_the_work(site: Site, world: World, queued_ports: Workload) -> None:
    bob = make_member(world.organisation, "bob")
    set_shared(world.actor, queued_ports.pk, "demo", shared=True)
    guest = enter(site, signed_in(bob), queued_ports, "demo")
    Workload.objects.filter(pk=queued_ports.pk).update(status=Status.STOPPED)
    assert knock(signed_in(bob), queued_ports, "demo")[0] == 404
    assert passes.admit(GatewaySession.objects.get(user=bob).pk, guest.address) is None
    with pytest.raises(Conflict):
        set_shared(world.actor, queued_ports.pk, "demo", shared=True)


def test_sharing_is_the_owners_and_never_of_tools(
    world: World, people: dict[str, Actor], queued_ports: Workload
) -> None:
    for who in PEOPLE:
        for port in ("tool", "demo", "none", ""):
            if (who, port) == ("alice", "demo"):
                continue
            with acting(people[who]), pytest.raises(DomainError):
                set_shared(people[who], queued_ports.pk, port, shared=True)
    assert not SharedPort.objects.exists()
    for shared in (True, True, False, False):
        set_shared(world.actor, queued_ports.pk, "demo", shared=shared)
    rows = Entry.objects.filter(action__startswith="port.").order_by("pk")
    assert [row.action for row in rows] == ["port.shared", "port.unshared"]
    assert rows[0].after == {"port": "demo", "number": PORT, "rank": 0}


def test_lines_are_read_and_written_back() -> None:
    text = "gradio 7860 The demo\nray 8265@1\n"
    found = declaring.parse(text)
    assert found == (Port("gradio", 7860, 0, "The demo", own=True), Port("ray", 8265, 1, own=True))
    assert declaring.parse(declaring.as_text(found)) == found


@pytest.mark.parametrize(
    "text",
    ["gradio", "gradio x", "gradio 80", "gradio 65536", "Gradio 7860", "-a 7860", "a.b 7860", "a_b 7860", "a 7860@",
     f"{'a' * 25} 7860", "a 7860\na 7861", "a 7860\nb 7860", "a 7860 " + "x" * 61, "é 7860", "a ７８６０",
     "a 7860 ok\x1b[31m", f"a {EGRESS_PORT}", "\n".join(f"p{n} {5000 + n}" for n in range(6)), "a 7860@64"],
)  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        declaring.parse(text)


@given(name=st.from_regex(declaring._NAME, fullmatch=True))
@settings(max_examples=examples(200))
def test_every_name_of_a_port_is_one_of_a_host(name: str) -> None:
    address = Address(uuid4(), name)
    assert hosts.parse(hosts.netloc(address)) == address


def test_the_work_of_an_owner_who_may_no_longer_is_closed(world: World, queued_ports: Workload) -> None:
    nobody = Actor(user_id=world.alice.pk, organisation_id=world.organisation.pk, label="alice")
    with acting(nobody), pytest.raises(DomainError):
        openable(nobody, queued_ports.pk, "demo")
    with pytest.raises(NotFound):
        reach.port_named(reload(queued_ports), "none")
