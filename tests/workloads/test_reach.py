"""Reaching into a running workload, and who may."""

import socket
from collections.abc import Iterator

import pytest

from apps.common.errors import Conflict, NotFound
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.tenants.choices import Role
from apps.workloads import reach, services
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.spec import Image, ImageKind, Port, Spec
from tests.builders import World, actor_of, make_member, make_organisation, submit_workload
from tests.drivers.kit import eventually
from tests.workloads.loops import until

SERVES = "import http.server; http.server.test(http.server.SimpleHTTPRequestHandler, port=8888, bind='127.0.0.1')"


@pytest.fixture
def running(world: World) -> Iterator[Workload]:
    with acting(world.actor):
        workload = submit_workload(
            world, argv=("python", "-c", SERVES), kind=ENVIRONMENT, ports=(Port("jupyter", 8888), Port("none", 9))
        )
    until(workload, lambda w: w.status == Status.RUNNING)
    yield workload
    with acting(world.actor):
        services.stop(world.actor, workload)
    until(workload, lambda w: not w.is_live)


@pytest.mark.programs
def test_a_port_by_its_name_and_a_command(world: World, running: Workload) -> None:
    def look() -> str | None:
        try:
            return reach.endpoint(world.actor, running, "jupyter").socket_path
        except reach.NotListening:
            return None

    with acting(world.actor):
        path = eventually(look, bool)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.0 200")
        with pytest.raises(reach.NotListening):
            reach.endpoint(world.actor, running, "none")
        with pytest.raises(NotFound):
            reach.endpoint(world.actor, running, "other")
        stream = reach.exec(world.actor, running, ["sh", "-c", "echo $PLSTACK_WORKLOAD"])
        assert stream.read().decode().strip() == str(running.pk)
        stream.close()


@pytest.mark.programs
def test_colleagues_whatever_their_role_and_strangers_stay_outside(world: World, running: Workload) -> None:
    elsewhere = make_organisation()
    for person in (
        actor_of(make_member(world.organisation, "bob"), world.organisation),
        actor_of(make_member(world.organisation, "fin", Role.FINANCE), world.organisation),
        actor_of(make_member(world.organisation, "carol", Role.ADMIN), world.organisation),
        actor_of(make_member(elsewhere, "charlie", Role.ADMIN), elsewhere),
    ):
        with acting(person), pytest.raises(NotFound):
            reach.endpoint(person, Workload.objects.filter(pk=running.pk).first() or _nothing())
        with acting(person), pytest.raises(NotFound):
            reach.exec(person, Workload.objects.filter(pk=running.pk).first() or _nothing(), ["true"])


def _nothing() -> Workload:
    raise NotFound


def test_what_does_not_run_says_so(world: World) -> None:
    with acting(world.actor):
        workload = submit_workload(world, kind=ENVIRONMENT, ports=(Port("jupyter", 8888),))
        with pytest.raises(Conflict, match="not running"):
            reach.endpoint(world.actor, workload, "jupyter")
        with pytest.raises(Conflict, match="not running"):
            reach.exec(world.actor, workload, ["true"])


def test_a_spec_is_read_as_it_was_written_also_by_earlier_versions() -> None:
    spec = Spec(
        image=Image("python"),
        argv=("true",),
        cpu_milli=1,
        memory_mib=16,
        ports=(Port("jupyter", 8888),),
        tools=(Image("vscode", ("code-server@1.2.3",), ImageKind.NODE),),
        egress=True,
    )
    assert Spec.from_json(spec.as_json()) == spec
    earlier = spec.as_json()
    for name in ("ports", "tools", "egress"):
        del earlier[name]
    del earlier["image"]["kind"]
    assert Spec.from_json(earlier) == Spec(image=Image("python"), argv=("true",), cpu_milli=1, memory_mib=16)
