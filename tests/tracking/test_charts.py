"""Charts show every spike, say what is NaN, and are seen by whoever sees the run."""

import math
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import NotFound
from apps.common.scoping import acting
from apps.tracking import merging, selectors
from apps.tracking.batches import batch_of
from apps.tracking.downsampling import sample
from apps.tracking.points import Point
from apps.tracking.selectors import Curve
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, make_organisation, platform
from tests.tracking.kit import AT, point, ramp, record


def drawn(world: World, workload: Workload, **changes: object) -> Curve:
    with acting(world.actor):
        (curve,) = selectors.chart(world.actor, [workload.pk], ["loss"], **{"axis": "step", **changes})  # type: ignore[arg-type]
    return curve


def test_few_points_are_shown_as_they_are(world: World, workload: Workload) -> None:
    record(workload.pk, ramp(5))
    curve = drawn(world, workload)
    assert [(each.x, each.low, each.high, each.last) for each in curve.buckets] == [(n, n, n, n) for n in range(5)]


@pytest.mark.parametrize("axis", ["step", "time"])
def test_no_spike_is_lost_from_afar(world: World, workload: Workload, axis: str) -> None:
    rows = ramp(60_000)
    rows[33_333] = Point("loss", 1e9, 33_333, AT + 33_333)
    rows[33_334] = Point("loss", -1e9, 33_334, AT + 33_334)
    rows[40_000] = Point("loss", math.nan, 40_000, AT + 40_000)
    record(workload.pk, rows)
    before = drawn(world, workload, axis=axis, points=50)
    with acting(platform()):
        merging.merge(workload.pk)
    with patch("apps.tracking.stored.codec.unpack", wraps=merging.codec.unpack) as unpack:
        after = drawn(world, workload, axis=axis, points=50)
    assert sum(len(call.args[0]) for call in unpack.mock_calls if call.args) < 100_000  # outlines, not chunks
    for curve in (before, after):
        assert len(curve.buckets) == 50
        assert max(each.high for each in curve.buckets) == 1e9
        assert min(each.low for each in curve.buckets) == -1e9
        assert curve.odd_count == 1
        assert [(each.x, math.isnan(each.value)) for each in curve.marks] == [
            (40_000 if axis == "step" else AT + 40_000, True)
        ]


def test_a_part_is_shown_in_full(world: World, workload: Workload) -> None:
    record(workload.pk, ramp(60_000))
    with acting(platform()):
        merging.merge(workload.pk)
    curve = drawn(world, workload, start=30_000, end=30_009, points=50)
    assert [each.x for each in curve.buckets] == list(range(30_000, 30_010))


def test_a_run_that_goes_back_hides_nothing_and_says_where(world: World, workload: Workload) -> None:
    record(workload.pk, [point(value=value, step=step) for step, value in enumerate([1.0, 2.0, 9.0])])
    record(workload.pk, [point(value=3.0, step=1), point(value=4.0, step=2)])
    curve = drawn(world, workload)
    assert [(each.x, each.low, each.high, each.last) for each in curve.buckets] == [
        (0, 1.0, 1.0, 1.0),
        (1, 2.0, 3.0, 3.0),
        (2, 4.0, 9.0, 4.0),
    ]
    assert curve.restarts == [1]


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.floats()), min_size=1, max_size=300), st.integers(1, 40))
def test_buckets_are_few_and_have_every_extreme(rows: list[tuple[int, float]], most: int) -> None:
    batch = batch_of([Point("loss", value, step, AT) for step, value in rows], {}).points
    xs = batch.steps.astype(float)
    found = sample(batch, xs, (float(xs.min()), float(xs.max())), most)
    finite = [value for _step, value in rows if math.isfinite(value)]
    assert len(found.buckets) <= most
    if finite:
        assert min(each.low for each in found.buckets) == min(finite)
        assert max(each.high for each in found.buckets) == max(finite)
    assert all(each.low <= each.last <= each.high for each in found.buckets)


def test_only_who_sees_the_run_sees_its_metrics(world: World, workload: Workload) -> None:
    record(workload.pk, ramp(3))
    with acting(platform()):
        stranger = actor_of(make_member(make_organisation(), "charlie"))
        colleague = actor_of(make_member(world.organisation, "bob"), world.organisation)
    for actor in (stranger, colleague):
        with acting(actor):
            for ask in (
                lambda actor=actor: selectors.names(actor, workload.pk),
                lambda actor=actor: selectors.chart(actor, [workload.pk], ["loss"], axis="step"),
                lambda actor=actor: selectors.parameters(actor, [workload.pk]),
            ):
                with pytest.raises(NotFound):
                    ask()
    with acting(world.actor):
        assert [each.name for each in selectors.names(world.actor, workload.pk)] == ["loss"]
