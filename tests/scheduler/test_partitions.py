"""MIG geometry and the choice of place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import MigProfile
from scheduler.mig import span, table_for
from scheduler.partitions import MASKS, NOWHERE, Geometry, best_starts, coverable, fragmentation, slices_of, uniform
from tests.scheduler.worlds import steady

A100 = table_for("A100", 81920)
H200 = table_for("NVIDIA H200", 144384)
A30 = table_for("A30", 24576)


@steady
@given(st.sampled_from([A100, H200, A30]), st.lists(st.integers(0, 20), max_size=12))
def test_partitions_never_overlap_and_stay_within_the_compute(geometry: Geometry, order: list[int]) -> None:
    mask = compute = 0
    for choice in order:
        profile = geometry[choice % len(geometry)]
        start = best_starts(geometry, profile.name, uniform(geometry))[0][mask]
        if start == NOWHERE:
            assert all(mask & span(s, profile.size) for s in profile.starts)
            continue
        assert start in profile.starts
        assert not mask & span(start, profile.size)
        mask |= span(start, profile.size)
        compute += profile.compute
    assert compute <= max(p.compute for p in geometry)


def test_the_table_has_the_published_geometry() -> None:
    shapes = {p.name: (p.starts, p.size, p.compute, p.maximum) for p in H200}
    assert shapes["1g.18gb"] == ((0, 1, 2, 3, 4, 5, 6), 1, 1, 7)
    assert shapes["1g.35gb"] == ((0, 2, 4, 6), 2, 1, 4)
    assert shapes["3g.71gb"] == ((0, 4), 4, 3, 2)
    assert shapes["7g.141gb"] == ((0,), 8, 7, 1)
    assert {p.name for p in A30} == {"1g.6gb", "2g.12gb", "4g.24gb"}
    assert slices_of(A30) == 4
    assert table_for("T4", 15360) == ()


@pytest.mark.parametrize("profile", A100)
def test_as_many_copies_fit_as_the_maximum_says(profile: MigProfile) -> None:
    fitted, mask = 0, 0
    while (start := best_starts(A100, profile.name, uniform(A100))[0][mask]) != NOWHERE:
        mask |= span(start, profile.size)
        fitted += 1
    assert fitted == (7 if profile.name.endswith("+me") else profile.maximum)


def test_a_place_costs_the_least_fragmentation_there_is() -> None:
    weights = uniform(A100)
    table = fragmentation(A100, weights)
    for profile in A100:
        starts, _ = best_starts(A100, profile.name, weights)
        for mask in range(MASKS):
            change = {
                s: table[mask | span(s, profile.size)] - table[mask]
                for s in profile.starts
                if not mask & span(s, profile.size)
            }
            assert (starts[mask] == NOWHERE) == (not change)
            if change:
                assert change[starts[mask]] <= min(change.values()) + 1e-3


def test_a_free_card_has_no_fragments_for_the_largest_profile() -> None:
    whole = next(p for p in A100 if p.size == 8)
    assert coverable(0, whole) == 8
    assert coverable(1, whole) == 0
