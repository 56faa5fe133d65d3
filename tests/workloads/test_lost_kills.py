"""Whoever dies or races while a machine lets go: one end, one credit, one notice, and books that add up."""

import threading
from collections.abc import Callable

import pytest
from django.db import connections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.choices import TransferKind
from apps.billing.models import MeterSession, Transfer
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.workloads import crediting, services, states
from apps.workloads.choices import Reason, Status
from apps.workloads.faults import card
from apps.workloads.hardware import lost
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.reconcile import outcome
from apps.workloads.reconcile.attempts import reconcile_due
from tests.builders import World, actor_of, make_world, platform, reload
from tests.console.kit import count_entries
from tests.searching import examples
from tests.workloads.loops import tick
from tests.workloads.machines import (
    Machine,
    attempt_of,
    come_back,
    die,
    joined,
    let_go,
    run_for,
)


def dies(*_anything: object, **_more: object) -> int:
    raise OSError("killed here")


@pytest.mark.parametrize(
    "point",
    [
        "apps.workloads.drivers.fencing.put_up",
        "apps.workloads.reconcile.outcome.lost_with_node",
        "apps.workloads.announce.tell_owner",
        "apps.billing.services.close_meter",
        "apps.billing.services.credit_lost",
    ],
)
def test_whoever_dies_on_the_way_the_next_one_goes_on_once(
    world: World, machine: Machine, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    workload = run_for(world, machine)
    die(machine)
    with monkeypatch.context() as patched:
        patched.setattr(point, dies)
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        crediting.sweep(platform())
    for _turn in range(3):
        let_go()
        crediting.sweep(platform())
    assert reload(workload).status == Status.QUEUED
    assert Attempt.objects.filter(workload=workload).count() == 1
    assert attempt_of(workload).credited_fen > 0
    assert Transfer.objects.filter(kind=TransferKind.CREDIT).count() == 1
    assert Notice.objects.filter(kind="run.lost").count() == 1
    assert Event.objects.filter(workload=workload, kind="status", reason=Reason.LOST).count() == 1
    assert funds.drift() == []


def test_a_failure_by_the_machine_says_what_was_given_back(world: World, machine: Machine) -> None:
    workload = run_for(world, machine, 60)
    machine.running.clear()  # its shim was killed: the machine itself proves the loss
    for _try in range(outcome.MAX_ATTEMPTS):
        tick()
        machine.running.clear()
        tick()
    assert (reload(workload).status, workload.reason) == (Status.FAILED, Reason.LOST)
    crediting.sweep(platform())
    shown = card(workload, Attempt.objects.get(workload=workload, number=1))
    assert shown is not None
    assert shown["credited"].endswith("credited")
    assert "since its start are not charged" in shown["given_back"]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ran=st.floats(0, 20_000),
    age=st.none() | st.floats(0, 30_000),
    replays=st.integers(1, 3),
    rated=st.booleans(),
)
def test_a_credit_never_exceeds_what_the_attempt_was_charged(
    world: World, machine: Machine, ran: float, age: float | None, replays: int, rated: bool
) -> None:
    machine.checkpoint_age_s = age
    workload = run_for(world, machine, ran)
    if rated:
        billing.rate_organisation(platform(), organisation_id=world.organisation.pk, until=db_now())
    die(machine)
    lost.declare(platform(), node_id=machine.node.pk)
    let_go()
    for _time in range(replays):
        crediting.sweep(platform())
    ended = attempt_of(workload)
    charged = sum(charge.exact_fen for charge in MeterSession.objects.get(pk=ended.pk).charges.filter(revision=0))
    kept = sum(charge.exact_fen for charge in MeterSession.objects.get(pk=ended.pk).charges.all())
    assert 0 <= kept <= charged
    assert ended.credited_fen <= charged + 1
    expected = min(ran, ran if age is None else age)
    assert ended.lost_s == pytest.approx(expected, abs=5)
    assert funds.drift() == []
    assert funds.unbalanced_runs() == []
    states.stop(platform(), reload(workload), states.Why(Reason.BY_PERSON))
    come_back(machine)


def at_once(acts: list[Callable[[], object]]) -> list[BaseException]:
    """Each in a thread and with a connection of its own; what they raised."""
    errors: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        try:
            with acting(platform()):
                act()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.django_db(transaction=True)
def test_many_who_declare_and_end_at_once_do_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with acting(platform()):
        world = make_world()
        machine = joined(world, monkeypatch)
        workload = run_for(world, machine)
        die(machine)
    acts: list[Callable[[], object]] = [
        lambda: lost.declare(platform(), node_id=machine.node.pk),
        lambda: lost.declare(platform(), node_id=machine.node.pk),
        let_go,
        let_go,
        lambda: crediting.sweep(platform()),
        lambda: services.stop(actor_of(world.alice, world.organisation), reload(Workload.objects.get(pk=workload.pk))),
        lambda: reconcile_due(platform()),
    ]
    errors = at_once(acts)
    with acting(platform()):
        for _turn in range(2):
            let_go()
            crediting.sweep(platform())
        assert errors == []
        assert reload(workload).status in (Status.STOPPED, Status.QUEUED)
        assert Attempt.objects.filter(workload=workload, ended_at__isnull=False).count() == 1
        assert count_entries("node.lost") == 1
        assert Transfer.objects.filter(kind=TransferKind.CREDIT).count() == 1
        assert funds.drift() == []
