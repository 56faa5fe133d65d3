"""Environments that a rule stops are saved first: at a spending cap and without money, in time and not for nothing."""

from datetime import timedelta

import pytest

from apps.billing import policy
from apps.billing import services as billing
from apps.billing.models import ArrearsState, MeterSession, SpendingCap
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.envs.choices import SnapshotKind, State
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.reconcile.stopping import save_before_stopping
from apps.envs.services.changing import Change, change
from apps.notifications.models import Notice
from apps.workloads import saving
from apps.workloads import services as workloads
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.timeline import event_title
from tests.builders import World, platform, top_up
from tests.envs import kit

CAP = 60  # ten minutes of the world's ¥3.60 an hour


def metered(environment: Environment, world: World, minutes: float) -> None:
    """It has run for so long."""
    with acting(platform()):
        workload = Workload.objects.get(environment=environment)
        began = db_now() - timedelta(minutes=minutes)
        attempt = Attempt.objects.create(
            organisation=world.organisation, workload=workload, number=1, node=world.node,
            placed_at=began, started_at=began,
        )  # fmt: skip
        billing.open_meter(
            session_id=attempt.pk,
            organisation_id=world.organisation.pk,
            user_id=world.alice.pk,
            workload_id=workload.pk,
            label="notebook",
            price_version_id=workload.price_version_id,
            at=began,
        )
        billing.extend_meter(session_id=attempt.pk, proven_until=db_now())


def workload_of(environment: Environment) -> Workload:
    found = kit.again(environment).workload
    assert found is not None
    return found


def enforce() -> int:
    with acting(platform()):
        return workloads.enforce_caps(platform()) + workloads.enforce_arrears(platform())


def save() -> int:
    with acting(platform()):
        return save_before_stopping(platform())


@pytest.fixture
def at_cap(world: World) -> Environment:
    made = kit.running(kit.make(world, cap_fen=CAP))
    kit.write(made, "work.txt", "x")
    metered(made, world, 9)
    return made


def test_at_its_cap_it_is_saved_and_then_stopped(at_cap: Environment) -> None:
    assert (enforce(), enforce()) == (1, 0)
    assert workload_of(at_cap).status == Status.RUNNING, "its files come first"
    assert (save(), save()) == (1, 0)
    kit.advance()
    with acting(platform()):
        taken = Snapshot.objects.get(environment=at_cap)
        notice = Notice.objects.get(kind="environment.cap_reached")
        told = [event_title(each) for each in Event.objects.filter(kind=saving.EVENT)]
    stopped = workload_of(at_cap)
    assert (taken.kind, taken.file_count) == (SnapshotKind.AT_STOP, 1)
    assert (stopped.status, stopped.reason) == (Status.STOPPING, Reason.CAP)
    assert notice.data["limit_fen"] == CAP
    assert told == ["Its spending cap is near: its files are saved, then it stops"]


def test_a_raised_cap_calls_the_stop_off_even_while_it_is_being_saved(at_cap: Environment, world: World) -> None:
    enforce()
    save()
    with acting(world.actor):
        assert not change(world.actor, kit.again(at_cap), Change(cap_fen=10_000))
    kit.advance()
    going = workload_of(at_cap)
    assert (going.status, going.stop_reason, going.stop_by) == (Status.RUNNING, "", None)
    with acting(platform()):
        assert Snapshot.objects.filter(environment=at_cap).count() == 1
        assert SpendingCap.objects.get(pk=going.pk).limit_fen == 10_000
    assert enforce() == 0


def test_a_cap_below_what_it_has_cost_is_refused_and_changes_nothing(at_cap: Environment, world: World) -> None:
    with acting(world.actor), pytest.raises(Invalid):
        change(world.actor, kit.again(at_cap), Change(cap_fen=CAP + 1))
    assert kit.again(at_cap).cap_fen == CAP


def test_it_is_stopped_at_the_cap_whether_it_could_be_saved_or_not(at_cap: Environment) -> None:
    enforce()
    with acting(platform()):
        assert saving.sweep(platform()) == 0
        Workload.objects.filter(environment=at_cap).update(stop_by=db_now())
        assert saving.sweep(platform()) == 1
    assert workload_of(at_cap).status == Status.STOPPING
    assert save() == 0


def test_the_next_start_has_the_cap_again_and_from_the_beginning(at_cap: Environment) -> None:
    with acting(platform()):
        assert SpendingCap.objects.get(pk=workload_of(at_cap).pk).limit_fen == CAP


def suspend(world: World) -> None:
    with acting(platform()):
        session = MeterSession.objects.get()
        billing.extend_meter(session_id=session.pk, proven_until=db_now() + timedelta(days=30))
        billing.rate_due(platform(), until=db_now() + timedelta(days=31))
        now = db_now()
        billing.arrears_sweep(platform(), now=now)
        billing.arrears_sweep(platform(), now=now + policy.GRACE + timedelta(seconds=1))
        assert ArrearsState.objects.get(pk=world.organisation.pk).status == "suspended"


def test_without_money_it_is_saved_and_then_stopped(world: World) -> None:
    made = kit.running(kit.make(world))
    metered(made, world, 9)
    suspend(world)
    assert (enforce(), save()) == (1, 1)
    kit.advance()
    stopped = workload_of(made)
    assert (stopped.status, stopped.reason) == (Status.STOPPING, Reason.ARREARS)
    with acting(platform()):
        assert Operation.objects.get(environment=made).note == "arrears"


def test_a_top_up_before_it_is_stopped_lets_it_go_on(world: World) -> None:
    made = kit.running(kit.make(world))
    metered(made, world, 9)
    suspend(world)
    enforce()
    save()
    with acting(platform()):
        top_up(world.organisation, 10_000_000)
    enforce()
    kit.advance()
    assert workload_of(made).status == Status.RUNNING
    assert workload_of(made).stop_by is None


def test_what_waits_has_nothing_to_save_and_ends_at_once(world: World) -> None:
    made = kit.make(world, cap_fen=CAP)
    with acting(platform()):
        workload = Workload.objects.get(environment=made)
        assert saving.ask(platform(), workload, Reason.ARREARS, by=db_now() + timedelta(minutes=5))
    ended = workload_of(made)
    assert (ended.status, ended.reason, ended.stop_by) == (Status.STOPPED, Reason.ARREARS, None)
    assert State.STOPPED
