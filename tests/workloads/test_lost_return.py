"""What comes back with a lost machine is ended before it takes work; and a lost machine can be removed."""

from datetime import timedelta

import pytest

from apps.clusters.choices import DrainAction
from apps.clusters.models import Node
from apps.common.errors import Conflict
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.workloads.choices import Status
from apps.workloads.drivers import fencing
from apps.workloads.hardware import drains, lost, removal, silence, strays
from apps.workloads.nodes import data_root
from tests.builders import World, make_staff, make_world, platform, reload
from tests.console.kit import count_entries
from tests.workloads.loops import tick
from tests.workloads.machines import (
    Machine,
    attempt_of,
    beat,
    come_back,
    die,
    let_go,
    node_of,
    pass_silence,
    run_for,
    wait,
)


class TestReturn:
    def test_what_it_still_runs_is_ended_before_it_takes_work(self, world: World, machine: Machine) -> None:
        staff = make_staff()
        workload = run_for(world, machine)
        old = str(attempt_of(workload).pk)
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        beat(machine)
        lost.readmit_returned_nodes(platform())  # it reports, and cannot be asked yet
        assert node_of(machine).lost_at is not None
        tick()
        assert reload(workload).status == Status.QUEUED
        come_back(machine)
        assert old in machine.ended
        assert node_of(machine).lost_at is None
        tick()
        assert attempt_of(workload).number == 2
        assert machine.running == {str(attempt_of(workload).pk)}
        told = Notice.objects.get(kind="node.returned", user=staff)
        assert "1 workload was ended first" in words(told).text
        assert count_entries("node.returned") == 1

    def test_its_heartbeat_is_answered_with_what_to_end(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        old = attempt_of(workload).pk
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        unknown = make_world().organisation.pk  # any id that no attempt has
        assert lost.programs_to_end({old, unknown}) == {old}
        assert strays.record_strays(node_of(machine), {old, unknown} - lost.programs_to_end({old, unknown})) == 1

    def test_an_operators_cordon_outlives_the_loss(self, world: World, machine: Machine) -> None:
        Node.objects.filter(pk=machine.node.pk).update(status="cordoned")
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        come_back(machine)
        assert (node_of(machine).lost_at, node_of(machine).status) == (None, "cordoned")

    def test_a_machine_that_is_well_is_not_declared_lost(self, world: World, machine: Machine) -> None:
        run_for(world, machine)
        beat(machine)
        with pytest.raises(Conflict, match="The node answers"):
            lost.declare(platform(), node_id=machine.node.pk)

    def test_one_that_reports_while_its_work_cannot_be_seen_is(self, world: World, machine: Machine) -> None:
        run_for(world, machine)
        wait(timedelta(minutes=2))
        beat(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        assert node_of(machine).lost_at is not None

    def test_back_before_the_platform_decides_it_was_never_lost(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        pass_silence(4)
        Node.objects.filter(pk=machine.node.pk).update(silent_for=timedelta(0))
        assert not lost.declare_silent(platform(), node_id=machine.node.pk, limit=timedelta(minutes=5))

    def test_it_stands_fenced_on_the_shared_storage_before_its_work_starts_again(
        self, world: World, machine: Machine
    ) -> None:
        workload = run_for(world, machine)
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        assert fencing.is_up(data_root(), str(attempt_of(workload).pk))
        assert reload(workload).status == Status.RUNNING, "whoever sees the fence has some seconds to end"


class TestRemoval:
    def test_a_lost_machine_can_be_removed_at_once(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        die(machine)
        removal.remove_node(platform(), node_id=machine.node.pk, declare_lost=True)
        assert not Node.objects.filter(pk=machine.node.pk).exists()
        let_go()
        assert reload(workload).status == Status.QUEUED

    def test_the_refusal_names_the_way_out(self, world: World, machine: Machine) -> None:
        run_for(world, machine)
        drains.drain(platform(), node_id=machine.node.pk, action=DrainAction.REQUEUE, notice=timedelta(hours=1))
        with pytest.raises(Conflict) as refused:
            removal.remove_node(platform(), node_id=machine.node.pk)
        assert "wait until that is done" in str(refused.value.hint)
        die(machine)
        with pytest.raises(Conflict) as refused:
            removal.remove_node(platform(), node_id=machine.node.pk)
        assert "declare it lost" in str(refused.value.hint)

    def test_a_drain_that_nobody_answers_ends_with_the_loss(self, world: World, machine: Machine) -> None:
        run_for(world, machine)
        drains.drain(platform(), node_id=machine.node.pk, action=DrainAction.STOP, notice=timedelta(0))
        die(machine)
        lost.declare(platform(), node_id=machine.node.pk)
        let_go()
        drains.advance(platform())
        assert node_of(machine).status == "cordoned"
