"""Workloads that really run: submitted, placed, launched, metered, ended."""

import time
from datetime import timedelta

import pytest

from apps.billing.models import MeterSession
from apps.common.errors import Conflict, InsufficientFunds, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from apps.workloads import services
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.models import Attempt, Event, Placement, Workload
from apps.workloads.selectors import log_chunk
from tests.builders import World, actor_of, make_member, make_organisation, platform, submit_workload
from tests.workloads.loops import tick, until

pytestmark = pytest.mark.programs


def ended(workload: Workload) -> bool:
    return workload.status in {Status.SUCCEEDED, Status.FAILED, Status.STOPPED}


def submit(world: World, *argv: str, key: str = "") -> Workload:
    with acting(world.actor):
        return submit_workload(world, argv=argv, key=key)


def test_a_program_that_ends_well_succeeds_and_gives_everything_back(world: World) -> None:
    workload = until(submit(world, "python", "-c", "print('hello')"), ended)
    assert workload.status == Status.SUCCEEDED, (workload.reason, workload.reason_data)
    attempt = Attempt.objects.get(workload=workload)
    assert log_chunk(attempt).data.decode().splitlines()[-1] == "hello"
    assert not Placement.objects.filter(released_at__isnull=True).exists()
    assert set(Quota.objects.values_list("used", flat=True)) == {0}
    assert workload.started_at is not None
    assert workload.ended_at is not None


def test_every_status_on_the_way_left_an_event(world: World) -> None:
    workload = until(submit(world, "true"), ended)
    statuses = list(
        Event.objects.filter(workload=workload, kind="status").order_by("pk").values_list("status", flat=True)
    )
    assert statuses == ["queued", "placed", "starting", "running", "succeeded"]


def test_the_meter_covers_exactly_what_ran(world: World) -> None:
    began = time.monotonic()
    workload = until(submit(world, "sleep", "1.5"), ended)
    took_s = time.monotonic() - began
    session = MeterSession.objects.get(workload_id=workload.pk)
    attempt = Attempt.objects.get(workload=workload)
    assert session.closed_at is not None
    assert session.closed_at - session.opened_at == timedelta(seconds=attempt.ran_for_s or 0)
    assert 1.4 < (attempt.ran_for_s or 0) < took_s


def test_a_program_that_fails_is_the_users_matter(world: World) -> None:
    workload = until(submit(world, "python", "-c", "import sys; sys.exit(3)"), ended)
    assert (workload.status, workload.reason, workload.fault) == (Status.FAILED, Reason.EXIT_CODE, Fault.USER)
    assert workload.reason_data["code"] == 3


def test_stopping_what_runs_ends_it_as_stopped(world: World) -> None:
    workload = until(submit(world, "sleep", "60"), lambda w: w.status == Status.RUNNING)
    with acting(world.actor):
        services.stop(world.actor, workload)
    until(workload, ended)
    assert (workload.status, workload.reason) == (Status.STOPPED, Reason.BY_PERSON)
    assert workload.reason_data == {"by": world.actor.label}


def test_stopping_what_waits_ends_it_at_once_and_free_of_charge(world: World) -> None:
    workload = submit(world, "true")
    with acting(world.actor):
        services.stop(world.actor, workload)
    assert workload.status == Status.STOPPED
    assert not MeterSession.objects.exists()
    with pytest.raises(Conflict), acting(world.actor):
        services.stop(world.actor, workload)


def test_the_same_key_submits_once(world: World) -> None:
    first, second = submit(world, "true", key="k"), submit(world, "true", key="k")
    assert first.pk == second.pk
    assert Workload.objects.count() == 1
    assert set(Quota.objects.filter(resource=Resource.RUNS).values_list("used", flat=True)) == {1}


def test_too_little_money_leaves_nothing_behind(world: World) -> None:
    with acting(platform()):
        poor = make_organisation(balance_fen=10)
        bob = actor_of(make_member(poor, "bob"), poor)
    with acting(bob), pytest.raises(InsufficientFunds, match="short"):
        submit_workload(world, actor=bob)
    assert not Workload.objects.filter(organisation=poor).exists()
    assert not Quota.objects.filter(organisation=poor, used__gt=0).exists()


def test_too_little_quota_says_whose_and_how_much(world: World) -> None:
    quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=Resource.RUNS, limit=1)
    submit(world, "true")
    with pytest.raises(QuotaExceeded, match="organisation's quota for Runs at a time is short by 1"):
        submit(world, "true")
    assert Workload.objects.count() == 1


def test_a_full_machine_queues_with_its_cause_and_then_starts(world: World) -> None:
    running = [submit(world, "sleep", "60") for _ in range(4)]
    waiting = submit(world, "true")
    tick()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.explanation["cause"]) == (Status.QUEUED, "cpu")
    with acting(world.actor):
        services.stop(world.actor, running[0])
    until(waiting, ended)
    assert waiting.status == Status.SUCCEEDED
    for workload in running[1:]:
        with acting(world.actor):
            services.stop(world.actor, workload)
        until(workload, ended)
