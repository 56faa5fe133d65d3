"""The engine that is kept between passes decides as a fresh one would, whatever happened in between."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from apps.clusters.models import Accelerator, Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Placement, Preemption, SchedulerEpoch, Workload
from apps.workloads.queueing import policy
from apps.workloads.reconcile import incremental_engine, pass_cache, snapshot, topology_version
from apps.workloads.reconcile.history import learned
from apps.workloads.reconcile.incremental_engine import LiveWorld
from apps.workloads.reconcile.schedule import run_pass, run_whole_pass
from benchmarks.crowd import Builder, Crowd
from tests.builders import platform


@pytest.fixture
def crowd(db: None) -> Iterator[None]:
    with acting(platform()):
        Builder(Crowd(nodes=12, queued=30, organisations=4, busy=0.75, seed=5)).build()
        yield


def followed(world: LiveWorld | None) -> LiveWorld:
    now = db_now()
    least = policy.rules().min_runtime_s
    return incremental_engine.follow(
        world, now, learned(now, simulated=False), None, min_runtime_s=least, simulated=False
    )


def end(workload: Workload) -> None:
    Placement.objects.filter(attempt__workload=workload).update(released_at=Now())
    Attempt.objects.filter(workload=workload).update(ended_at=Now())
    Workload.objects.filter(pk=workload.pk).update(status=Status.SUCCEEDED, ended_at=Now())


def checkpoint(workload: Workload) -> None:
    Attempt.objects.filter(workload=workload, ended_at__isnull=True).update(checkpoint_at=Now())


def ask(workload: Workload) -> None:
    attempt = Attempt.objects.get(workload=workload, ended_at__isnull=True)
    waiting = Workload.objects.filter(status=Status.QUEUED).order_by("pk").first()
    if waiting is not None and not Preemption.objects.filter(attempt=attempt).exists():
        later = db_now() + timedelta(minutes=5)
        fixed = {"organisation_id": attempt.organisation_id, "why": "higher_priority"}
        Preemption.objects.create(attempt=attempt, for_workload_id=waiting.pk, leave_at=later, kill_at=later, **fixed)


@pytest.mark.parametrize("seed", range(4))
def test_an_engine_that_was_told_decides_as_one_that_was_made(crowd: None, seed: int) -> None:
    chance = random.Random(seed)
    world = followed(None)
    for _step in range(6):
        for workload in Workload.objects.filter(status__in=[Status.RUNNING, Status.PLACED]).order_by("pk"):
            act = chance.choice([end, checkpoint, ask, None, None, None, None])
            if act is not None:
                act(workload)
        run_pass(platform())
        engine, world = world.engine, followed(world)
        assert world.engine is engine, "nothing happened that needs a new engine"
        fresh = followed(None)
        view = snapshot.take(db_now(), simulated=False)
        now = db_now().timestamp()
        plans = [
            each.engine.plan(view.waiting, now, view.queues, view.holds, promised=view.promised)
            for each in (world, fresh)
        ]
        assert plans[0] == plans[1]
        assert {m.attempt_id for m in world.all_running()} == {m.attempt_id for m in view.running}


def test_a_node_or_card_that_changed_makes_a_new_engine(crowd: None) -> None:
    changes: list[Callable[[], int]] = [
        lambda: Node.objects.filter(name="node-00001").update(status="cordoned"),
        lambda: Node.objects.filter(name="node-00002").update(last_seen_at=db_now() - timedelta(hours=1)),
        lambda: Accelerator.objects.filter(index=0, node__name="node-00003").update(mode="shared"),
        lambda: Node.objects.filter(name="node-00004").update(removed_at=Now()),
    ]
    world = followed(None)
    for change in changes:
        assert change() == 1
        engine, world = world.engine, followed(world)
        assert world.engine is not engine


def test_a_measurement_or_a_heartbeat_changes_nothing(crowd: None) -> None:
    now = db_now()
    before = topology_version.digest(now, False)
    Node.objects.update(last_seen_at=db_now(), disk_free_mib=17)
    Accelerator.objects.update(temperature_c=71, power_w=300.0, utilisation_pct=99.0)
    assert topology_version.digest(now, False) == before
    assert topology_version.digest(now, True) != before


def test_slices_that_do_not_add_up_make_a_new_engine(crowd: None) -> None:
    world = followed(None)
    piece = Placement.objects.filter(released_at__isnull=True).order_by("pk").first()
    assert piece is not None
    Placement.objects.filter(pk=piece.pk).update(released_at=Now())
    engine, world = world.engine, followed(world)
    assert world.engine is not engine
    assert followed(world).engine is world.engine


def test_a_pass_of_another_process_or_one_that_did_not_commit_is_noticed(crowd: None) -> None:
    run_pass(platform())
    epoch = pass_cache.newest_epoch()
    mine = pass_cache.take_cache(epoch)
    assert mine.worlds, "the pass left its memory"
    assert not pass_cache.take_cache(epoch).worlds, "who borrowed it and never gave it back has lost it"
    pass_cache.return_cache(mine, epoch)
    SchedulerEpoch.objects.update(number=99)
    assert not pass_cache.take_cache(pass_cache.newest_epoch()).worlds


def test_a_second_pass_reads_and_writes_little(crowd: None, django_assert_max_num_queries: object) -> None:
    first = run_whole_pass(platform())
    assert first is not None
    assert first.placed > 0
    run_whole_pass(platform())
    said = Workload.objects.filter(status=Status.QUEUED).order_by("pk").values_list("pk", "explained_at")
    before = dict(said)
    with django_assert_max_num_queries(48):  # type: ignore[operator]
        run_whole_pass(platform())
    assert dict(said) == before, "what is still true is not written again"
