"""Gangs that really run: placed together, begun together, charged and ended together."""

import os
import signal
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from apps.billing.models import Hold, MeterSession
from apps.common.errors import InsufficientFunds, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from apps.workloads import selectors, services
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import CannotSee, Handle, LaunchRefused, LaunchRequest
from apps.workloads.drivers.said import Said
from apps.workloads.models import Attempt, Member, Placement, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.programs import attempts_by_ref, members_of
from tests.builders import World, make_world, platform, reload, submit_workload
from tests.drivers.kit import shim_of
from tests.workloads.loops import tick, until

pytestmark = pytest.mark.programs

SERVE = (
    "import socket; peer = socket.create_server(('127.1.0.1', 7001)).accept()[0]; print('heard', peer.recv(9).decode())"
)
CALL = """
import os, socket, time
while True:
    try:
        socket.create_connection(('127.1.0.1', 7001), 1).sendall(os.environ['PLSTACK_RANK'].encode())
        break
    except OSError:
        time.sleep(0.1)
"""
BY_RANK = f"import os; exec({SERVE!r} if os.environ['PLSTACK_RANK'] == '0' else {CALL!r})"


def ended(workload: Workload) -> bool:
    return workload.status in {Status.SUCCEEDED, Status.FAILED, Status.STOPPED}


def running(workload: Workload) -> bool:
    return workload.status == Status.RUNNING


def submit(world: World, source: str, members: int = 2, **changes: object) -> Workload:
    with acting(world.actor):
        return submit_workload(world, argv=("python", "-c", source), members=members, **changes)


def ranks(workload: Workload) -> list[Member]:
    return members_of(Attempt.objects.select_related("workload").filter(workload=workload).latest("number"))


@pytest.fixture(autouse=True)
def nothing_left(world: World) -> Iterator[None]:
    """Whatever a test leaves running is ended with it."""
    yield
    for member in Member.objects.exclude(handle=None).select_related("node"):
        driver_named("local").stop(Handle.from_dict(member.handle or {}), 0)


def test_members_work_together_and_give_everything_back(world: World) -> None:
    workload = until(submit(world, BY_RANK), ended)
    assert workload.status == Status.SUCCEEDED, (workload.reason, workload.reason_data)
    attempt = selectors.current_attempt(workload)
    log = selectors.log_chunk(selectors.program(attempt, 0)).data.decode()
    assert log.splitlines()[-1] == "heard 1"
    assert selectors.log_chunk(attempt).data.decode() == log, "the attempt's own log is that of rank 0"
    assert [member.exit_code for member in ranks(workload)] == [0, 0]
    assert not Placement.objects.filter(released_at__isnull=True).exists()
    assert set(Quota.objects.values_list("used", flat=True)) == {0}
    with pytest.raises(NotFound):
        selectors.program(attempt, 2)


def test_price_hold_and_quota_count_every_member(world: World) -> None:
    with acting(platform()):
        quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=Resource.CPU_MILLI, limit=3000)
    workload = until(submit(world, "import time; time.sleep(60)", members=3), running)
    hold = Hold.objects.get(workload_id=workload.pk)
    assert hold.amount_fen == 3 * 360
    assert MeterSession.objects.get(workload_id=workload.pk).replicas == 3
    with acting(world.actor):
        assert selectors.get(world.actor, workload.pk).paid_rate == 3 * 360
    with pytest.raises(QuotaExceeded):
        submit(world, "pass", members=1)
    with acting(world.actor):
        services.stop(world.actor, workload)
    assert until(workload, ended).status == Status.STOPPED
    assert not Quota.objects.exclude(used=0).exists()


def test_an_hour_of_all_members_must_be_there() -> None:
    with acting(platform()):
        poor = make_world(balance_fen=1000)
        submit(poor, "pass", members=2)
        with pytest.raises(InsufficientFunds):
            submit(poor, "pass", members=2)
        assert Workload.objects.count() == 1


@pytest.mark.parametrize("members", [0, -1, 65])
def test_no_members_and_too_many_are_refused(world: World, members: int) -> None:
    with pytest.raises(Invalid):
        submit(world, "pass", members=members)


def test_the_first_that_fails_ends_the_others_and_says_which_it_was(world: World) -> None:
    source = "import os, sys, time; sys.exit(3) if os.environ['PLSTACK_RANK'] == '1' else time.sleep(300)"
    workload = until(submit(world, source), ended)
    assert (workload.status, workload.reason, workload.fault) == (Status.FAILED, Reason.EXIT_CODE, Fault.USER)
    assert (workload.reason_data["code"], workload.reason_data["rank"]) == (3, 1)
    first, second = ranks(workload)
    assert (second.exit_reason, first.exit_reason) == ("exited", "stopped")
    attempt = Attempt.objects.get(workload=workload)
    assert (attempt.exit_code, attempt.exit_reason) == (3, "exited")


def test_one_that_is_done_leaves_the_others_to_finish(world: World) -> None:
    source = "import os, time; time.sleep(0 if os.environ['PLSTACK_RANK'] == '0' else 2)"
    began = time.monotonic()
    workload = until(submit(world, source), ended)
    took = timedelta(seconds=time.monotonic() - began)
    assert workload.status == Status.SUCCEEDED
    session = MeterSession.objects.get(workload_id=workload.pk)
    assert session.closed_at is not None
    assert timedelta(seconds=1) < session.closed_at - session.opened_at < took


def test_nothing_runs_or_costs_before_all_are_there(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member whose machine cannot be reached keeps the others at the barrier, free of charge."""
    driver = type(driver_named("local"))
    launch = driver.launch

    def deaf(self: object, request: LaunchRequest) -> Handle:
        if request.gang is not None and request.gang.rank == 1:
            raise CannotSee(Said.plain("unplugged"))
        return launch(self, request)  # type: ignore[arg-type]

    workload = submit(world, "print('begun', flush=True); import time; time.sleep(60)")
    with monkeypatch.context() as patched:
        patched.setattr(driver, "launch", deaf)
        for _turn in range(10):
            tick()
    first = ranks(workload)[0]
    assert first.handle is not None
    assert b"begun" not in selectors.log_chunk(first).data
    assert not MeterSession.objects.exists()
    assert reload(workload).status == Status.PLACED
    until(workload, running)
    attempt = Attempt.objects.get(workload=workload)
    assert MeterSession.objects.get().opened_at == attempt.started_at


def test_a_refusal_of_one_member_ends_those_that_wait(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = type(driver_named("local"))
    launch = driver.launch

    def refuses(self: object, request: LaunchRequest) -> Handle:
        if request.gang is not None and request.gang.rank == 1:
            raise LaunchRefused("no_room_here", Said.plain("no room"))
        return launch(self, request)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(driver, "launch", refuses)
        workload = until(submit(world, "print('begun', flush=True)"), ended)
    assert (workload.status, workload.reason) == (Status.FAILED, Reason.REFUSED)
    first = ranks(workload)[0]
    seen = driver_named("local").observe(Handle.from_dict(first.handle or {}))
    assert seen.phase.is_final
    assert seen.ran_for_s is None
    assert not MeterSession.objects.exists()


def test_a_member_that_cannot_be_seen_stops_the_clock_and_not_the_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = until(submit(world, "import time; time.sleep(60)"), running)
    driver, hidden = driver_named("local"), str(ranks(workload)[1].pk)
    observe = type(driver).observe

    def blind(self: object, handle: Handle) -> object:
        if handle.ref == hidden:
            raise CannotSee(Said.plain("cut off"))
        return observe(self, handle)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(type(driver), "observe", blind)
        tick()
        proved = MeterSession.objects.get().proven_until
        time.sleep(1.5)  # heartbeats come every second
        tick()
        assert MeterSession.objects.get().proven_until == proved
    assert running(reload(workload))
    until(workload, lambda _w: MeterSession.objects.get().proven_until > proved)


def test_a_stop_reaches_every_member(world: World) -> None:
    workload = until(submit(world, "import time; time.sleep(300)", members=3), running)
    with acting(world.actor):
        services.stop(world.actor, workload)
    assert until(workload, ended).status == Status.STOPPED
    assert {member.exit_reason for member in ranks(workload)} == {"stopped"}
    assert all(member.ended_at for member in ranks(workload))


def test_a_lost_member_sends_the_whole_gang_back_into_the_queue(world: World) -> None:
    workload = until(submit(world, "import time; time.sleep(300)"), running)
    first, second = ranks(workload)
    os.kill(shim_of(Handle.from_dict(second.handle or {})), signal.SIGKILL)
    until(workload, lambda w: w.attempt_number == 2 and w.status == Status.RUNNING)
    assert {attempts_by_ref([m.pk])[m.pk] for m in (first, second)} == {Attempt.objects.get(number=1).pk}
    assert Attempt.objects.get(number=1).exit_reason == "lost"
    assert all(member.ended_at for member in Member.objects.filter(attempt__number=1))


def test_a_gang_that_one_machine_cannot_hold_never_starts(world: World) -> None:
    """Nothing joins the members on two real machines."""
    workload = submit(world, "pass", members=20)
    tick()
    workload.refresh_from_db()
    assert workload.status == Status.QUEUED
    assert workload.explanation["cause"] in {"never_fits", "gang"}
