"""An environment that has to give way is saved while the notice runs, once, and nothing waits for it."""

from datetime import timedelta

import pytest

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs import states
from apps.envs.choices import SnapshotKind, Step
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.reconcile.preemption_snapshot import save_before_leaving
from apps.workloads.models import Attempt, Preemption, Workload
from tests.builders import World, platform, unknown_id
from tests.envs import kit


def asked(environment: Environment, world: World) -> None:
    with acting(platform()):
        workload = Workload.objects.get(environment=environment)
        attempt = Attempt.objects.create(
            organisation=world.organisation, workload=workload, number=1, node=world.node, started_at=db_now()
        )
        now = db_now()
        Preemption.objects.create(
            organisation=world.organisation, attempt=attempt, for_workload_id=unknown_id(), why="guarantee",
            asked_at=now, leave_at=now + timedelta(seconds=120), kill_at=now + timedelta(seconds=420),
        )  # fmt: skip


@pytest.fixture
def leaving(world: World) -> Environment:
    made = kit.running(kit.make(world))
    kit.write(made, "work.txt", "x")
    asked(made, world)
    return made


def save() -> int:
    with acting(platform()):
        return save_before_leaving(platform())


def test_its_home_is_saved_once(leaving: Environment) -> None:
    assert [save(), save()] == [1, 0]
    kit.advance()
    with acting(platform()):
        taken = Snapshot.objects.get(environment=leaving)
        attempt = Attempt.objects.get(workload=leaving.workload_id)
    assert (taken.kind, taken.file_count, taken.ready_at is not None) == (SnapshotKind.AUTOMATIC, 1, True)
    assert attempt.checkpoint_at == taken.created_at  # work up to here is not lost, and so not credited
    assert save() == 0


def test_while_something_else_is_done_to_it_the_next_turn_tries_again(world: World) -> None:
    made = kit.running(kit.make(world))
    with acting(platform()):
        other = states.begin(made, Step.SNAPSHOT, by_id=None)
        Operation.objects.filter(pk=other.pk).update(created_at=db_now() - timedelta(minutes=1))
    asked(made, world)
    assert save() == 0
    kit.advance()
    assert save() == 1


def test_who_was_not_asked_is_left_alone(world: World) -> None:
    kit.running(kit.make(world))
    assert save() == 0
