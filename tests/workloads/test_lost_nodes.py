"""A dead machine lets go: of work, quota, money and places, at the last proof that it ran."""

from dataclasses import replace
from datetime import timedelta

import pytest

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.choices import TransferKind
from apps.billing.models import MeterSession, Transfer
from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from apps.workloads import crediting, services, states
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.faults import credited_words
from apps.workloads.hardware import lost
from apps.workloads.models import Attempt, Event, Placement, Workload
from apps.workloads.reconcile import outcome
from apps.workloads.reconcile.attempts import claim_due, reconcile_due
from apps.workloads.timeline import event_title
from tests.billing.builders import balance
from tests.builders import World, make_staff, platform, reload, staff_actor
from tests.console.kit import count_entries
from tests.workloads.loops import make_due, tick
from tests.workloads.machines import Machine, attempt_of, beat, come_back, die, let_go, run_for, wait


def used_runs(world: World) -> int:
    """Runs that count against the organisation's quota."""
    return sum(Quota.objects.filter(resource=Resource.RUNS, user=None, department=None).values_list("used", flat=True))


class TestLettingGo:
    def test_money_stops_at_the_last_proof_and_the_lost_part_is_credited(self, world: World, machine: Machine) -> None:
        before = balance(world.organisation)
        machine.checkpoint_age_s = 1200.0
        workload = run_for(world, machine, 3600)
        proof = attempt_of(workload).started_at + timedelta(seconds=3600)
        die(machine)
        wait(timedelta(hours=2))
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        ended = attempt_of(workload)
        assert ended.ended_at == proof
        session = MeterSession.objects.get(pk=ended.pk)
        assert (session.closed_at, session.proven_until) == (proof, proof)
        crediting.sweep(platform())
        ended.refresh_from_db()
        assert ended.lost_s == pytest.approx(1200, abs=5)
        assert ended.credited_fen == pytest.approx(120, abs=1)
        billing.rate_organisation(platform(), organisation_id=world.organisation.pk, until=db_now())
        assert balance(world.organisation) == pytest.approx(before - 240, abs=1)
        moved = Transfer.objects.get(kind=TransferKind.CREDIT)
        assert moved.idem == f"credit:node:{ended.pk}"
        assert funds.drift() == []
        assert funds.unbalanced_runs() == []
        assert "¥1.20" in credited_words(ended)

    def test_places_are_free_and_quota_follows_the_work(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        assert not Placement.objects.filter(attempt__workload=workload, released_at__isnull=True).exists()
        assert used_runs(world) == 1, "it waits, so its quota stays reserved"
        with acting(world.actor):
            services.stop(world.actor, reload(workload))
        assert reload(workload).status == Status.STOPPED
        assert used_runs(world) == 0

    @pytest.mark.programs
    def test_it_starts_again_elsewhere_and_never_on_the_lost_machine(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        beat(machine)  # it is heard, and what ran there is not proved gone yet
        tick()
        assert reload(workload).status == Status.QUEUED
        Node.objects.filter(pk=world.node.pk).update(status="ready")
        tick()
        assert Attempt.objects.get(workload=workload, number=2).node_id == world.node.pk
        states.stop(platform(), reload(workload), states.Why(Reason.BY_PERSON))

    def test_what_was_asked_to_stop_ends_as_stopped(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        die(machine)
        with acting(world.actor):
            services.stop(world.actor, reload(workload))
        tick()
        assert reload(workload).status == Status.STOPPING
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        assert (reload(workload).status, workload.reason) == (Status.STOPPED, Reason.BY_PERSON)
        assert attempt_of(workload).fault == Fault.NODE
        assert used_runs(world) == 0

    def test_the_owners_stop_after_the_decision_stands(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        with acting(world.actor):
            services.stop(world.actor, reload(workload))
        let_go()
        assert reload(workload).status == Status.STOPPED

    def test_no_number_of_lost_machines_fails_the_work(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        for number in range(1, 6):
            assert attempt_of(workload).number == number
            die(machine)
            lost.declare(platform(), node_id=machine.node.pk)
            let_go()
            assert reload(workload).status == Status.QUEUED
            come_back(machine)
            tick()
            tick()
        assert reload(workload).status == Status.RUNNING

    def test_owners_and_operators_are_told_once_in_words(self, world: World, machine: Machine) -> None:
        staff = make_staff()
        workload = run_for(world, machine)
        die(machine)
        for _time in range(3):
            lost.declare(staff_actor(staff), node_id=machine.node.pk)
            let_go()
            crediting.sweep(platform())
        told = Notice.objects.get(kind="run.lost", user=world.alice)
        assert "far does not answer" in words(told).text
        assert "queued again" in words(told).text
        assert words(told).url
        assert "credited" in words(Notice.objects.get(kind="run.credited", user=world.alice)).title
        assert "declared it lost" in words(Notice.objects.get(kind="node.lost", user=staff)).text
        assert count_entries("node.lost") == 1
        titles = [event_title(event) for event in Event.objects.filter(workload=workload)]
        assert any("Queued again after attempt 1" in title for title in titles)
        assert any(title.startswith("Credited ¥") for title in titles)

    def test_who_was_placed_by_a_pass_that_had_not_heard_of_it_is_given_up_too(
        self, world: World, machine: Machine
    ) -> None:
        workload = run_for(world, machine)
        Node.objects.filter(pk=machine.node.pk).update(lost_at=db_now())
        let_go()
        assert reload(workload).status == Status.QUEUED

    def test_a_worker_that_was_just_looking_writes_nothing(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        make_due()
        (held,) = claim_due(10)
        seen = machine.observe(Handle("remote", "far", str(held.attempt.pk)))
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        ended = attempt_of(workload).ended_at
        outcome.apply(platform(), held, replace(seen, ran_for_s=99_999.0))
        assert attempt_of(workload).ended_at == ended
        assert reload(workload).status == Status.QUEUED
        assert Attempt.objects.filter(workload=workload).count() == 1

    def test_a_launch_that_was_under_way_is_ended_again(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        launched: list[str] = []
        launch = machine.launch

        def slow(request: object) -> Handle:
            handle = launch(request)  # type: ignore[arg-type]
            Node.objects.filter(pk=machine.node.pk).update(lost_at=db_now())
            let_go()
            launched.append(handle.ref)
            return handle

        Attempt.objects.filter(workload=workload).update(handle=None)
        Workload.objects.filter(pk=workload.pk).update(status=Status.PLACED)
        machine.launch = slow  # type: ignore[method-assign]
        make_due()
        reconcile_due(platform())
        assert launched
        assert not machine.running
