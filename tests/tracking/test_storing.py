"""Whatever is written in whatever parts, and whenever it is merged, comes back whole, once and in order."""

import math
from collections import defaultdict
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.common.errors import Invalid, NotFound
from apps.common.scoping import acting
from apps.tracking import merging, points, selectors, services
from apps.tracking.models import PointBatch, PointChunk
from apps.tracking.points import LimitReached, Point
from apps.workloads.models import Workload
from tests.builders import World, platform, submit_workload, unknown_id
from tests.searching import examples
from tests.tracking.kit import AT, info, kept, point, ramp, record

NAMES = st.sampled_from(["loss", "train/acc", "精度 (%)"])
POINT = st.builds(
    Point, NAMES, st.floats(width=32), st.none() | st.integers(-3, 50), st.integers(0, 50).map(lambda each: AT + each)
)
ACTS = st.lists(st.lists(POINT, min_size=1, max_size=30) | st.just("merge"), min_size=1, max_size=12)


def merge(workload: Workload) -> int:
    with acting(platform()):
        return merging.merge(workload.pk)


def expected(acts: list[Any]) -> dict[str, list[tuple[int, float, float]]]:
    found: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for each in acts:
        for one in [] if each == "merge" else each:
            before = found[one.name][-1][0] if found[one.name] else -1
            found[one.name].append((before + 1 if one.step is None else one.step, one.at, one.value))
    return found


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_batches_and_merges_lose_and_double_nothing(world: World, acts: list[Any]) -> None:
    with acting(world.actor):
        workload = submit_workload(world)
    with patch.object(merging, "FULL", 16):
        for each in acts:
            if each == "merge":
                merge(workload)
            else:
                record(workload.pk, each)
    for name, rows in expected(acts).items():
        found = kept(workload.pk, name)
        assert found.steps.tolist() == [step for step, _at, _value in rows]
        assert found.moments.tolist() == [round(at * 1_000_000) for _step, at, _value in rows]
        assert found.values.tobytes() == np.array([value for _step, _at, value in rows]).tobytes()
        summed_up(workload, name, rows)


def summed_up(workload: Workload, name: str, rows: list[tuple[int, float, float]]) -> None:
    """What the row of a series says is what its points say."""
    found = info(workload.pk, name)
    values = [value for _step, _at, value in rows]
    finite = [value for value in values if math.isfinite(value)]
    assert (found.count, found.odd_count) == (len(values), len(values) - len(finite))
    assert (found.first_step, found.last_step) == (rows[0][0], rows[-1][0])
    assert found.last == values[-1] or (math.isnan(found.last) and math.isnan(values[-1]))
    assert found.least == min(finite, default=None)
    assert found.greatest == max(finite, default=None)
    if finite:
        assert (found.least_step, found.least) in [(step, value) for step, _at, value in rows]


def test_merges_keep_chunks_few_and_leave_no_batches(workload: Workload) -> None:
    with patch.object(merging, "FULL", 64):
        for start in range(0, 600, 10):
            record(workload.pk, ramp(10, start=start))
            if start % 30 == 0:
                merge(workload)
        merge(workload)
    with acting(platform()):
        counts = list(PointChunk.objects.order_by("first").values_list("count", flat=True))
        assert not PointBatch.objects.exists()
    assert sum(counts) == 600
    assert len(counts) <= 600 // 64 + 6
    assert kept(workload.pk).steps.tolist() == list(range(600))


def test_only_what_is_due_is_merged(workload: Workload) -> None:
    record(workload.pk, ramp(3))
    with acting(platform()):
        assert merging.merge_due() == 0
        with patch.object(merging, "WAITING_POINTS", 3):
            assert merging.merge_due() == 1


def test_one_metric_too_many_is_refused_and_what_was_there_stays(workload: Workload) -> None:
    with patch.object(services, "MOST_NAMES", 2):
        record(workload.pk, [point("a"), point("b")])
        with pytest.raises(LimitReached, match="at most 2 metrics; “c”"):
            record(workload.pk, [point("a"), point("c")])
        record(workload.pk, [point("b")])
    assert (info(workload.pk, "a").count, info(workload.pk, "b").count) == (1, 2)


def test_one_point_too_many_is_refused(workload: Workload) -> None:
    with patch.object(services, "MOST_POINTS", 5):
        record(workload.pk, ramp(5))
        with pytest.raises(LimitReached, match="at most 5 points"):
            record(workload.pk, [point()])
    assert len(kept(workload.pk)) == 5


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (point(""), "points.0.name"),
        (point("a" * 251), "points.0.name"),
        (point("a\nb"), "points.0.name"),
        (point(" a"), "points.0.name"),
        (point("a\0"), "points.0.name"),
        (point(at=math.nan), "points.0.at"),
        (point(at=-1), "points.0.at"),
        (point(at=AT * 1000), "points.0.at"),
        (point(step=2**63), "points.0.step"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_place(workload: Workload, wrong: Point, field: str) -> None:
    with pytest.raises(Invalid) as raised:
        record(workload.pk, [wrong])
    assert list(raised.value.fields) == [field]


def test_too_many_at_once_are_refused(workload: Workload) -> None:
    with patch.object(points, "MOST_AT_ONCE", 2), pytest.raises(Invalid):
        record(workload.pk, ramp(3))


def test_what_no_run_has_said_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        record(unknown_id(), [point()])


def test_a_numbered_parcel_is_taken_once(workload: Workload) -> None:
    first = services.Parcel("rank 0", 1)
    assert services.add_points(run_id=workload.pk, points=ramp(2), parcel=first).points == 2
    assert services.add_points(run_id=workload.pk, points=ramp(2), parcel=first).repeated
    assert services.add_points(run_id=workload.pk, points=ramp(1), parcel=services.Parcel("rank 1", 1)).points == 1
    assert len(kept(workload.pk)) == 3


def test_lists_read_the_last_values_of_a_page_at_once(
    world: World, workload: Workload, django_assert_num_queries: Any
) -> None:
    with acting(world.actor):
        other = submit_workload(world)
        record(workload.pk, [point("a", 1.0), point("a", 2.0), point("b", 3.0)])
        record(other.pk, [point("a", math.inf)])
        with django_assert_num_queries(1):
            found = selectors.latest([workload.pk, other.pk, unknown_id()])
    assert found == {workload.pk: {"a": 2.0, "b": 3.0}, other.pk: {"a": math.inf}}
