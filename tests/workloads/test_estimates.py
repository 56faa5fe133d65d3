"""Estimated starts are kept once for each stay in the queue, and scored when it ends with a start."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.common.clock import db_now
from apps.common.errors import Denied
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Placement, StartEstimate, Workload
from apps.workloads.queueing import estimates
from apps.workloads.queueing.estimates import Size
from apps.workloads.reconcile.schedule import run_pass
from benchmarks.crowd import Builder, Crowd
from tests.builders import make_staff, platform, staff_actor
from tests.workloads.cards import some_have_ended

MINUTE = timedelta(minutes=1)


@pytest.fixture
def crowd(db: None) -> Iterator[None]:
    with acting(platform()):
        Builder(Crowd(nodes=2, queued=8, organisations=2, seed=1)).build()
        yield


def running() -> Workload:
    found = Workload.objects.filter(status=Status.RUNNING).order_by("pk").first()
    assert found is not None
    return found


def free_everything() -> None:
    now = db_now()
    Placement.objects.update(released_at=now)
    Attempt.objects.update(ended_at=now)
    Workload.objects.filter(status=Status.RUNNING).update(status=Status.SUCCEEDED, ended_at=now)


def turned_out(workload: Workload, start_min: int, cause: str = "devices") -> None:
    """Said to start in 10 to 20 minutes, and started after `start_min`."""
    now = db_now() - timedelta(hours=1)
    fixed: dict[str, Any] = {"start_p50": now + 10 * MINUTE, "start_p90": now + 20 * MINUTE, "cause": cause}
    fixed["started_at"] = now + start_min * MINUTE
    StartEstimate.objects.create(organisation_id=workload.organisation_id, workload=workload, **fixed)


def test_nothing_is_promised_or_scored_before_enough_is_known(crowd: None) -> None:
    run_pass(platform())
    assert not StartEstimate.objects.exists()


def test_the_first_estimate_of_a_stay_is_kept_and_scored_when_it_starts(crowd: None) -> None:
    some_have_ended(running())
    run_pass(platform())
    kept = {row.workload_id: row for row in StartEstimate.objects.all()}
    assert kept
    assert all(row.start_p50 <= row.start_p90 and row.started_at is None for row in kept.values())
    run_pass(platform())
    assert {row.workload_id: row.start_p50 for row in StartEstimate.objects.all()} == {
        pk: row.start_p50 for pk, row in kept.items()
    }
    free_everything()
    run_pass(platform())
    started = StartEstimate.objects.filter(started_at__isnull=False)
    placed = Workload.objects.filter(status=Status.PLACED, pk__in=kept)
    assert {row.workload_id for row in started} == {workload.pk for workload in placed} != set()


def test_the_score_says_how_many_came_when_they_were_said_to(crowd: None) -> None:
    waiting = list(Workload.objects.filter(status=Status.QUEUED).order_by("pk"))
    for workload, minutes in zip(waiting, (5, 9, 10, 20, 25), strict=False):
        turned_out(workload, minutes, "cpu" if minutes == 25 else "devices")
    score = estimates.scorecard(staff_actor(make_staff(PlatformRole.OPS)))
    assert (score.whole.starts, score.whole.before, score.whole.inside, score.whole.after) == (5, 0.4, 0.4, 0.2)
    assert score.whole.median_error_s == 300  # of 5, 1, 0, 10 and 15 minutes
    assert {cause: one.starts for cause, one in score.by_cause.items()} == {"cpu": 1, "devices": 4}
    assert score.by_cause["cpu"].after == 1
    assert sum(one.starts for one in score.by_size.values()) == 5
    assert Size.CPU not in score.by_size


def test_old_starts_and_those_of_the_other_world_do_not_count(crowd: None) -> None:
    waiting = Workload.objects.filter(status=Status.QUEUED).first()
    assert waiting is not None
    turned_out(waiting, 15)
    staff = staff_actor(make_staff(PlatformRole.OPS))
    assert estimates.scorecard(staff).whole.starts == 1
    assert estimates.scorecard(staff, simulated=True).whole == estimates.Score()
    StartEstimate.objects.update(started_at=db_now() - timedelta(days=31))
    assert estimates.scorecard(staff).whole == estimates.Score()


def test_members_of_organisations_do_not_see_the_score(crowd: None) -> None:
    finance = staff_actor(make_staff(PlatformRole.FINANCE))
    with pytest.raises(Denied):
        estimates.scorecard(finance)


@pytest.mark.parametrize(
    ("gpu", "size"),
    [
        (None, Size.CPU),
        ({"mode": "mig", "count": 2}, Size.SLICE),
        ({"mode": "whole", "count": 1}, Size.ONE),
        ({"mode": "whole", "count": 7}, Size.FEW),
        ({"mode": "whole", "count": 8}, Size.MANY),
    ],
)
def test_sizes(gpu: dict[str, Any] | None, size: Size) -> None:
    assert estimates.size_of(gpu) is size
