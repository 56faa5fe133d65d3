"""Points come back from bytes as they were, whatever they are."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.tracking import codec
from apps.tracking.outlines import GROUP, LEAST, outline_of
from apps.tracking.points import Points

WHOLE = st.integers(-(2**63), 2**63 - 1)
ROWS = st.lists(st.tuples(WHOLE, WHOLE, st.floats()), max_size=200)


def points_of(rows: list[tuple[int, int, float]]) -> Points:
    steps, moments, values = (list(each) for each in zip(*rows, strict=True)) if rows else ([], [], [])
    return Points(np.array(steps, np.int64), np.array(moments, np.int64), np.array(values, np.float64))


@given(ROWS)
def test_what_is_packed_comes_back(rows: list[tuple[int, int, float]]) -> None:
    points = points_of(rows)
    again = codec.unpack(codec.pack(points))
    assert (again.steps == points.steps).all()
    assert (again.moments == points.moments).all()
    assert again.values.tobytes() == points.values.tobytes()


def test_even_steps_cost_nothing_and_a_curve_costs_less_than_its_numbers() -> None:
    count = 4096
    steps = np.arange(count, dtype=np.int64)
    smooth = Points(steps * 10, steps * 1_000_000, np.exp(-steps / 1000).astype(np.float32).astype(np.float64))
    assert len(codec.pack(smooth)) < 0.6 * 8 * count  # as frameworks compute
    noise = Points(steps, steps, np.random.default_rng(1).random(count))
    assert len(codec.pack(noise)) < 8 * count + 100


@given(
    st.integers(LEAST, LEAST + 2 * GROUP), st.integers(0, 999), st.dictionaries(st.integers(0, LEAST - 1), st.floats())
)
def test_an_outline_has_the_extremes_and_the_last(count: int, seed: int, odd: dict[int, float]) -> None:
    values: list[float] = np.random.default_rng(seed).normal(size=count).tolist()
    for place, value in odd.items():
        values[place] = value
    rising = np.arange(len(values), dtype=np.int64)
    outline = outline_of(Points(rising, rising, np.array(values)))
    assert outline is not None
    finite = [each for each in values if math.isfinite(each)]
    seen = outline.values[np.isfinite(outline.values)]
    if finite:
        assert (seen.min(), seen.max()) == (min(finite), max(finite))
    assert outline.steps[-1] == len(values) - 1
    assert len(outline) <= 4 * math.ceil(len(values) / GROUP)


def test_what_goes_back_has_no_outline() -> None:
    rising = np.arange(LEAST, dtype=np.int64)
    assert outline_of(Points(rising, rising, rising.astype(float))) is not None
    assert outline_of(Points(rising[::-1], rising, rising.astype(float))) is None
    assert outline_of(Points(rising, rising[::-1], rising.astype(float))) is None
