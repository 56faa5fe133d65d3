"""What the queue remembers between passes: recent use, the typical mix, promises and emptied nodes."""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

import scheduler
from apps.clusters.models import Node, Zone
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from apps.workloads.choices import PreemptionOutcome, Status
from apps.workloads.models import Attempt, Placement, Preemption, RecentUse, SchedulerEpoch, Workload
from apps.workloads.queueing import mix, promises, usage
from apps.workloads.reconcile.schedule import run_pass
from benchmarks.crowd import Builder, Crowd
from tests.builders import platform

DAY = timedelta(days=1)


@pytest.fixture
def crowd(db: None) -> Iterator[None]:
    with acting(platform()):
        Builder(Crowd(nodes=3, queued=12, organisations=2, seed=3)).build()
        yield


def waits_for(task: Workload, nodes: tuple[str, ...]) -> scheduler.Wait:
    cause = scheduler.Cause(scheduler.CauseCode.DEVICES)
    return scheduler.Wait(str(task.pk), cause, (), 1, reserved_nodes=nodes)


def queue() -> list[Workload]:
    return list(Workload.objects.filter(status=Status.QUEUED).order_by("queued_at", "pk"))


def ids() -> list[str]:
    return [str(workload.pk) for workload in queue()]


# Recent use


def expected(pieces: list[tuple[Placement, datetime, datetime]], now: datetime) -> dict[str, float]:
    """The integral, piece by piece, of each resource."""
    rate = math.log(2) / (7 * 86400)

    def left(at: datetime) -> float:
        return math.exp(-rate * (now - at).total_seconds())

    names = {"*": "core_milli", "cpu_milli": "cpu_milli", "memory_mib": "memory_mib"}
    return {
        name: sum(getattr(row, held) * (left(end) - left(start)) / rate for row, start, end in pieces)
        for name, held in names.items()
    }


@pytest.fixture
def used(crowd: None) -> tuple[Organisation, list[tuple[Placement, datetime, datetime]], datetime]:
    """An organisation whose cards were held for parts of the last ten days, some of them still."""
    now = db_now()
    Organisation.objects.update(created_at=now - 10 * DAY)
    RecentUse.objects.all().delete()
    rows = list(Placement.objects.order_by("pk"))
    for place, row in enumerate(rows):
        released = now - place * DAY / 5 if place % 2 else None
        Placement.objects.filter(pk=row.pk).update(created_at=now - 9 * DAY + place * DAY / 7, released_at=released)
    organisation = Organisation.objects.get(pk=rows[0].organisation_id)
    mine = Placement.objects.filter(organisation=organisation)
    pieces = [(row, row.created_at, min(row.released_at or now, now)) for row in mine]
    return organisation, [piece for piece in pieces if piece[1] < piece[2]], now


def test_recent_use_is_the_integral_of_what_was_held(used: Any) -> None:
    organisation, pieces, now = used
    assert usage.bring_up_to_date(now)
    assert usage.recent_use(now, simulated=False)[organisation.pk] == pytest.approx(expected(pieces, now))
    assert not any(usage.recent_use(now, simulated=True)[organisation.pk].values())


def test_it_does_not_matter_how_often_it_is_brought_up_to_date(used: Any) -> None:
    organisation, pieces, now = used
    for ago in (6.5, 6.4, 3, 0.5, 0.01, 0):
        assert usage.bring_up_to_date(now - ago * DAY)
    assert usage.recent_use(now, simulated=False)[organisation.pk] == pytest.approx(expected(pieces, now))
    week = now + 7 * DAY
    later = usage.recent_use(week, simulated=False)[organisation.pk]
    halves = {name: used / 2 for name, used in expected(pieces, now).items()}
    assert later == pytest.approx(halves), "half of it is left after a week"


def test_use_of_simulated_cards_is_counted_apart(used: Any) -> None:
    organisation, pieces, now = used
    Zone.objects.update(simulated=True)
    usage.bring_up_to_date(now)
    assert usage.recent_use(now, simulated=True)[organisation.pk] == pytest.approx(expected(pieces, now))
    assert not any(usage.recent_use(now, simulated=False)[organisation.pk].values())


def test_it_is_not_counted_again_within_a_minute(used: Any) -> None:
    _organisation, _pieces, now = used
    assert usage.bring_up_to_date(now)
    assert not usage.bring_up_to_date(now + timedelta(seconds=59))
    assert usage.bring_up_to_date(now + timedelta(seconds=61))


# The mix


def test_the_mix_is_learned_once_from_each_submission_and_kept_in_the_epoch(crowd: None) -> None:
    run_pass(platform())
    kept = SchedulerEpoch.objects.get().mix["real"]
    learned = mix.from_json(kept)
    assert learned.memory.weights is not None
    assert sum(learned.memory.weights.values()) == Workload.objects.count()
    assert learned.used == learned.memory.mix()
    again = mix.learn(learned, db_now(), simulated=False)
    assert again == learned, "nothing was submitted since"


def test_the_mix_survives_json(crowd: None) -> None:
    gpu = scheduler.GpuRequest(scheduler.Mode.VGPU, model="A100", core_milli=250, memory_mib=8192, any_of=("A100",))
    memory = scheduler.LearnedMix(at=7.5, weights={(1000, None): 2.0, (4000, gpu): 1.25})
    learned = mix.Learned(memory, memory.mix())
    assert mix.from_json(mix.as_json(learned)) == learned
    assert mix.from_json({}) == mix.Learned(scheduler.LearnedMix())
    assert mix.from_json({"weights": [["?"]], "at": 1, "used": None}) == mix.Learned(scheduler.LearnedMix())


def test_the_mix_in_use_moves_only_when_what_is_submitted_does(crowd: None) -> None:
    now = db_now()
    learned = mix.learn(mix.Learned(scheduler.LearnedMix()), now, simulated=False)
    Workload.objects.filter(pk=queue()[0].pk).update(created_at=now + timedelta(seconds=1))
    one_more = mix.learn(learned, now + timedelta(seconds=2), simulated=False)
    assert one_more.memory != learned.memory
    assert one_more.used == learned.used
    Workload.objects.update(created_at=now + timedelta(seconds=3))
    cpu_only: dict[mix.Kind, float] = {(1000, None): 1000.0}
    other = replace(one_more, memory=replace(one_more.memory, weights=cpu_only))
    assert mix.learn(other, now + timedelta(seconds=4), simulated=False).used != learned.used


# Promises and emptied nodes


def test_promises_are_handed_on_in_the_order_they_were_made(crowd: None) -> None:
    first, second, third = queue()[:3]
    promises.keep([waits_for(second, ("a", "b")), waits_for(first, ("c",))], {}, db_now())
    before = promises.promised(ids())
    assert list(before.items()) == [(str(second.pk), ("a", "b")), (str(first.pk), ("c",))]
    promises.keep([waits_for(third, ("d",)), waits_for(first, ("e",))], before, db_now())
    assert list(promises.promised(ids()).items()) == [(str(first.pk), ("e",)), (str(third.pk), ("d",))]
    assert Workload.objects.get(pk=second.pk).promised_nodes == []


def test_a_pass_keeps_its_promises_in_rows_and_forgets_those_of_what_started(crowd: None) -> None:
    run_pass(platform())
    kept = promises.promised(ids())
    assert kept, "all cards are taken, so the first in the queue have room reserved"
    first = UUID(next(iter(kept)))
    Placement.objects.all().update(released_at=db_now())
    Attempt.objects.all().update(ended_at=db_now())
    Workload.objects.filter(status=Status.RUNNING).update(status=Status.SUCCEEDED, ended_at=db_now())
    run_pass(platform())
    started = Workload.objects.get(pk=first)
    assert (started.status, started.promised_nodes, started.promised_at) == (Status.PLACED, [], None)


@pytest.mark.parametrize(
    ("changes", "held"),
    [
        ({}, True),
        ({"outcome": PreemptionOutcome.FINISHED}, True),
        ({"outcome": PreemptionOutcome.CALLED_OFF}, False),
        ({"ended_at": timedelta(minutes=-11)}, False),
        ({"asked_at": timedelta(hours=-9)}, False),
    ],
)
def test_nodes_emptied_for_a_task_are_held_for_its_present_stay_and_a_while(
    crowd: None, changes: dict[str, Any], held: bool
) -> None:
    waiting, attempt, now = queue()[0], Attempt.objects.order_by("pk").first(), db_now()
    assert attempt is not None
    fixed: dict[str, Any] = {"outcome": PreemptionOutcome.REQUEUED, "ended_at": now - timedelta(minutes=1)}
    fixed |= {"asked_at": waiting.queued_at + timedelta(seconds=1), "leave_at": now + DAY, "kill_at": now + DAY}
    fixed |= {name: now + value if isinstance(value, timedelta) else value for name, value in changes.items()}
    organisation = attempt.organisation_id
    Preemption.objects.create(organisation_id=organisation, attempt=attempt, for_workload_id=waiting.pk, **fixed)
    found = promises.holds(ids(), now)
    assert found == ({str(waiting.pk): (str(attempt.node_id),)} if held else {})
    assert promises.holds([], now) == {}
    assert Node.objects.filter(pk=attempt.node_id).exists()
