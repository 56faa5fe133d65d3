"""Silence that counts: only what the platform listened to, and never its own machine's."""

from datetime import timedelta

import pytest

from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.tenants import settings as platform_settings
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import ExitReason
from apps.workloads.hardware import lost, silence
from apps.workloads.hardware.policy import NodeSettings
from apps.workloads.reconcile.attempts import reconcile_due
from tests.builders import World, make_node, platform, reload
from tests.console.kit import count_entries
from tests.workloads.loops import make_due
from tests.workloads.machines import Machine, attempt_of, beat, die, let_go, node_of, pass_silence, run_for, wait


class TestSilence:
    def test_five_minutes_of_it_give_up_what_runs_there(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        pass_silence(4)
        assert node_of(machine).lost_at is None
        pass_silence(2)
        assert node_of(machine).lost_at is not None
        let_go()
        assert (reload(workload).status, workload.reason, workload.fault) == (Status.QUEUED, Reason.LOST, Fault.NODE)
        ended = attempt_of(workload)
        assert (ended.exit_reason, ended.fault) == (ExitReason.LOST, Fault.NODE)
        assert count_entries("node.lost") == 1

    def test_the_operators_minutes_count(self, world: World, machine: Machine) -> None:
        platform_settings.put(platform(), NodeSettings(lost_after_minutes=20))
        run_for(world, machine)
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        pass_silence(19)
        assert node_of(machine).lost_at is None
        pass_silence(2)
        assert node_of(machine).lost_at is not None

    def test_zero_minutes_leave_it_to_operators(self, world: World, machine: Machine) -> None:
        platform_settings.put(platform(), NodeSettings(lost_after_minutes=0))
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        pass_silence(60)
        assert node_of(machine).lost_at is None

    def test_a_platform_that_was_away_for_a_week_loses_nobody(self, world: World, machine: Machine) -> None:
        workload = run_for(world, machine)
        silence.declare_silent_nodes_lost(platform())
        wait(timedelta(days=7))
        die(machine)  # and does not answer at once either
        silence.declare_silent_nodes_lost(platform())
        pass_silence(4)
        assert node_of(machine).lost_at is None
        assert reload(workload).status == Status.RUNNING
        beat(machine)
        silence.declare_silent_nodes_lost(platform())
        assert node_of(machine).silent_for == timedelta(0)

    def test_pauses_of_the_listener_never_add_up(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        for _turn in range(30):
            pass_silence(1)
            wait(timedelta(minutes=10))
            silence.declare_silent_nodes_lost(platform())
        assert node_of(machine).lost_at is None

    def test_the_platforms_own_machine_is_never_lost(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        Node.objects.filter(pk=world.node.pk).update(silent_for=timedelta(days=1), listened_at=db_now())
        pass_silence(10)
        assert Node.objects.get(pk=world.node.pk).lost_at is None
        with pytest.raises(Conflict, match="runs the platform itself"):
            lost.declare(platform(), node_id=world.node.pk)

    def test_a_machine_that_does_not_report_but_answers_is_there(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        pass_silence(20)  # the web process is down: no heartbeat arrives
        assert node_of(machine).lost_at is None
        assert "answers" in machine.asked

    def test_so_is_one_whose_work_is_seen(self, world: World, machine: Machine) -> None:
        run_for(world, machine)
        silence.declare_silent_nodes_lost(platform())
        for _minute in range(10):
            pass_silence(1)
            make_due()
            reconcile_due(platform())
            assert node_of(machine).silent_for < timedelta(minutes=2)

    def test_when_no_machine_at_all_is_heard_an_operator_decides(self, world: World, machine: Machine) -> None:
        for name in ("second", "third"):
            Node.objects.filter(pk=make_node(name=name).pk).update(driver="remote")
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        pass_silence(10)
        assert not Node.objects.filter(lost_at__isnull=False).exists()
        Node.objects.filter(name="third").update(last_seen_at=db_now(), silent_for=timedelta(0))
        silence.declare_silent_nodes_lost(platform())
        assert set(Node.objects.filter(lost_at__isnull=False).values_list("name", flat=True)) == {"far", "second"}

    def test_two_workers_count_the_same_time_once(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        wait(timedelta(seconds=20))
        silence.declare_silent_nodes_lost(platform())
        silence.declare_silent_nodes_lost(platform())
        assert timedelta(seconds=20) <= node_of(machine).silent_for < timedelta(seconds=25)

    def test_minutes_out_of_bounds_are_refused(self, world: World) -> None:
        for minutes in (1, 1441, -5):
            with pytest.raises(Exception, match="2 to 1440"):
                platform_settings.put(platform(), NodeSettings(lost_after_minutes=minutes))
