"""MIG geometry and the choice of place."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Device, GpuRequest, MigProfile, Mix, MixEntry, Mode, Node, Snapshot, Task, plan
from scheduler.mig import compute_slices, profiles_of, span, table_for
from scheduler.partitions import (
    MASKS,
    NOWHERE,
    Geometry,
    best_starts,
    coverable,
    fragmentation,
    profile_weights,
    slices_of,
    uniform_weights,
    weights_on,
)
from tests.scheduler.ledger import as_running, check_capacity
from tests.scheduler.worlds import steady

A100_40 = table_for("NVIDIA A100-SXM4-40GB", 40960)
A100 = table_for("A100", 81920)
H100 = table_for("NVIDIA H100 80GB HBM3", 81559)
H200 = table_for("NVIDIA H200", 144384)
A30 = table_for("A30", 24576)


@steady
@given(st.sampled_from([A100_40, A100, H100, H200, A30]), st.lists(st.integers(0, 20), max_size=12))
def test_partitions_never_overlap_and_stay_within_the_compute(geometry: Geometry, order: list[int]) -> None:
    mask = compute = 0
    for choice in order:
        profile = geometry[choice % len(geometry)]
        start = best_starts(geometry, profile.name, uniform_weights(geometry))[0][mask]
        if start == NOWHERE:
            assert all(mask & span(s, profile.size) for s in profile.starts)
            continue
        assert start in profile.starts
        assert not mask & span(start, profile.size)
        mask |= span(start, profile.size)
        compute += profile.compute
    assert compute <= max(p.compute for p in geometry)


@pytest.mark.parametrize(
    ("geometry", "names"),
    [
        (A100_40, ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")),
        (A100, ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
        (H100, ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
        (H200, ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")),
        (table_for("NVIDIA H20", 97871), ("1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb")),
        (table_for("NVIDIA B200", 183359), ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")),
    ],
)
def test_eight_slice_cards_have_the_published_geometry(geometry: Geometry, names: tuple[str, ...]) -> None:
    rows = {p.name: (p.starts, p.size, p.compute, p.maximum) for p in geometry}
    seven = (0, 1, 2, 3, 4, 5, 6)
    assert [rows[name] for name in names] == [
        (seven, 1, 1, 7),
        ((0, 2, 4, 6), 2, 1, 4),
        ((0, 2, 4), 2, 2, 3),
        ((0, 4), 4, 3, 2),
        ((0,), 4, 4, 1),
        ((0,), 8, 7, 1),
    ]
    assert rows[f"{names[0]}+me"] == (seven, 1, 1, 1)
    assert len(rows) == 7
    assert slices_of(geometry) == 8


def test_the_a30_has_four_slices() -> None:
    rows = {p.name: (p.starts, p.size, p.compute, p.maximum, p.memory_mib) for p in A30}
    assert rows == {
        "1g.6gb": ((0, 1, 2, 3), 1, 1, 4, 6144),
        "2g.12gb": ((0, 2), 2, 2, 2, 12288),
        "4g.24gb": ((0,), 4, 4, 1, 24576),
        "1g.6gb+me": ((0, 1, 2, 3), 1, 1, 1, 6144),
        "2g.12gb+me": ((0, 2), 2, 2, 1, 12288),
    }
    assert slices_of(A30) == 4
    assert table_for("T4", 15360) == ()


@pytest.mark.parametrize("profile", A100)
def test_as_many_copies_fit_as_the_maximum_says(profile: MigProfile) -> None:
    fitted, mask = 0, 0
    while (start := best_starts(A100, profile.name, uniform_weights(A100))[0][mask]) != NOWHERE:
        mask |= span(start, profile.size)
        fitted += 1
    assert fitted == (7 if profile.name.endswith("+me") else profile.maximum)  # that is counted, see below


def test_a_place_costs_the_least_fragmentation_there_is() -> None:
    weights = uniform_weights(A100)
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


def test_what_a_profile_could_cover_is_less_by_what_is_taken() -> None:
    two = next(p for p in A100 if p.name == "1g.20gb")
    assert [coverable(mask, two) for mask in (0, 0b01000000, 0b01000001)] == [8, 6, 4]


def test_of_two_places_that_lose_the_same_the_one_on_the_fuller_card_is_cheaper() -> None:
    best_starts.cache_clear()  # computed anew, whatever was asked for before
    weights = uniform_weights(A100)
    table, (starts, costs) = fragmentation(A100, weights), best_starts(A100, "1g.10gb", weights)
    free = [mask for mask in range(MASKS) if starts[mask] != NOWHERE]
    loss = {mask: round(1000 * (table[mask | span(starts[mask], 1)] - table[mask])) for mask in free}
    pairs = [(a, b) for a, b in combinations(loss, 2) if loss[a] == loss[b]]
    assert len(pairs) > 100
    assert all((costs[a] < costs[b]) == (a.bit_count() > b.bit_count()) for a, b in pairs)


def test_a_profile_weighs_what_all_that_ask_for_it_weigh() -> None:
    small, whole = GpuRequest(Mode.MIG, profile="1g.10gb"), GpuRequest(Mode.WHOLE)
    mix = Mix((MixEntry(1000, small, 0.5), MixEntry(2000, small, 0.25), MixEntry(1000, whole, 0.25)))
    assert profile_weights(mix) == {"1g.10gb": 0.75}
    assert profile_weights(None) == {}


def test_a_partition_has_memory_by_its_slices_and_a_card_without_any_counts_as_one() -> None:
    rows = {p.name: (p.compute, p.memory_mib) for p in table_for("A100", 80_000)}
    assert (rows["1g.10gb"], rows["3g.40gb"], rows["7g.80gb"]) == ((1, 10_000), (3, 40_000), (7, 80_000))
    assert compute_slices(Device("c", 0, "nvidia", "T4", 15360)) == 1


def mig_node(card: Device) -> Node:
    return Node("n", "z", "c", 64000, 65536, (card,))


def asks(name: str, profile: str, model: str | None = None) -> Task:
    return Task(
        name,
        "alice-lab",
        "",
        "u",
        3,
        0.0,
        1000,
        1024,
        GpuRequest(Mode.MIG, 1, model, profile=profile),
        estimate_p90_s=9.0,
    )


def starts_of(card: Device, *profiles: str) -> list[tuple[int | None, int, int]]:
    """(start, core_milli, memory_mib) of what starts, each checked by the ledger."""
    waiting = tuple(asks(f"t{i}", profile) for i, profile in enumerate(profiles))
    world = Snapshot((mig_node(card),), waiting=waiting)
    outcome = plan(world, 0.0)
    check_capacity(world, as_running(world, outcome, 0.0))
    return [(s.mig_start, s.core_milli, s.memory_mib) for p in outcome.places for s in p.slices]


def test_what_the_node_discovered_wins_over_the_table() -> None:
    """The same model with a driver that offers other names, places and sizes than the table knows."""
    found = (MigProfile("1g.11gb", (2, 3), 1, 1, 11264, 2), MigProfile("3g.44gb", (4,), 4, 3, 45056, 1))
    card = Device("c", 0, "nvidia", "H100", 81920, Mode.MIG, mig_profiles=found)
    assert profiles_of(card) == found
    assert starts_of(card, "1g.11gb", "1g.11gb", "1g.11gb") == [(2, 333, 11264), (3, 333, 11264)]
    assert starts_of(card, "3g.44gb", "3g.44gb") == [(4, 1000, 45056)]
    assert starts_of(card, "1g.10gb", "7g.80gb") == []
    none_found = Device("c", 0, "nvidia", "H100", 81920, Mode.MIG, mig_profiles=())
    assert starts_of(none_found, "1g.10gb") == []


@pytest.mark.parametrize(
    "nonsense",
    [
        MigProfile("1g.10gb", (-1, 0), 1, 1, 10240, 7),
        MigProfile("1g.10gb", (6, 7, 8), 1, 1, 10240, 7),
        MigProfile("1g.10gb", (0,), 9, 1, 10240, 7),
        MigProfile("1g.10gb", (0,), 0, 1, 10240, 7),
        MigProfile("1g.10gb", (), 1, 1, 10240, 7),
        MigProfile("", (0,), 1, 1, 10240, 7),
        MigProfile("1g.10gb", (0,), 1, 0, 10240, 7),
    ],
)
def test_profiles_that_make_no_sense_are_not_believed(nonsense: MigProfile) -> None:
    good = MigProfile("2g.20gb", (0, 2), 2, 2, 20480, 2)
    card = Device("c", 0, "nvidia", "H100", 81920, Mode.MIG, mig_profiles=(nonsense, good, good))
    assert profiles_of(card) == (good,)
    assert starts_of(card, "1g.10gb", "2g.20gb") == [(0, 500, 20480)]


@pytest.mark.parametrize(("usual", "start"), [("4g.40gb", 4), ("1g.10gb", 0), ("2g.20gb", 6)])
def test_a_partition_starts_where_what_is_usually_asked_for_loses_least(usual: str, start: int) -> None:
    mix = Mix((MixEntry(1000, GpuRequest(Mode.MIG, profile=usual), 1.0),))
    card = Device("c", 0, "nvidia", "A100", 81920, Mode.MIG)
    (place,) = plan(Snapshot((mig_node(card),), waiting=(asks("t", "1g.10gb"),), mix=mix), 0.0).places
    assert place.slices[0].mig_start == start


def test_one_partition_with_media_engines_at_a_time() -> None:
    card = Device("c", 0, "nvidia", "H100", 81920, Mode.MIG)
    assert len(starts_of(card, "1g.10gb+me", "1g.10gb+me", "1g.10gb", "1g.10gb")) == 3
    a30 = Device("c", 0, "nvidia", "A30", 24576, Mode.MIG)
    assert len(starts_of(a30, "2g.12gb+me", "2g.12gb+me", "1g.6gb+me")) == 2


def test_partitions_of_another_vendor_are_as_the_node_reports_them() -> None:
    """An MI300X in CPX mode: eight equal partitions and nothing else, since its modes do not mix."""
    cpx = (MigProfile("cpx", tuple(range(8)), 1, 1, 24576, 8),)
    card = Device("c", 0, "amd", "MI300X", 196608, Mode.MIG, mig_profiles=cpx)
    assert compute_slices(card) == 8
    assert starts_of(card, *["cpx"] * 9) == [(start, 125, 24576) for start in range(8)]
    assert starts_of(Device("c", 0, "amd", "MI300X", 196608, Mode.MIG), "cpx") == []


def test_partitions_that_appear_as_cards_of_their_own_are_given_whole() -> None:
    parts = tuple(Device(f"c/{i}", i, "amd", "MI300X", 24576) for i in range(8))
    world = Snapshot(
        (Node("n", "z", "c", 64000, 65536, parts),),
        waiting=tuple(
            Task(f"t{i}", "alice-lab", "", "u", 3, float(i), 1000, 1024, GpuRequest(Mode.WHOLE, 3)) for i in range(3)
        ),
    )
    outcome = plan(world, 0.0)
    assert [len(p.slices) for p in outcome.places] == [3, 3]


def test_the_tables_of_a_model_are_made_of_its_names_sizes_and_memory() -> None:
    """Made anew: what other tests have asked for is remembered."""
    made = table_for.__wrapped__("NVIDIA A30", 24576)
    assert made == A30
    assert [(p.name, p.starts, p.size, p.compute, p.memory_mib, p.maximum) for p in made[:2]] == [
        ("1g.6gb", (0, 1, 2, 3), 1, 1, 6144, 4),
        ("2g.12gb", (0, 2), 2, 2, 12288, 2),
    ]


def test_a_fragment_is_what_is_free_and_of_no_use_to_what_is_asked_for() -> None:
    half = next(p for p in A100 if p.name == "3g.40gb")
    only_halves = tuple(float(p is half) for p in A100)
    table = fragmentation.__wrapped__(A100, only_halves)
    # Nothing taken; a slice of the first half; one of each half; the first half; all.
    assert [table[mask] for mask in (0, 0b1, 0b10001, 0b1111, 0b11111111)] == [0.0, 3.0, 6.0, 0.0, 0.0]


def test_profiles_weigh_by_the_slices_that_are_asked_for_and_all_of_them_one() -> None:
    weights = dict(zip((p.name for p in A100), weights_on(A100, {"1g.10gb": 0.5, "3g.40gb": 0.5}), strict=True))
    assert (weights["1g.10gb"], weights["3g.40gb"], weights["7g.80gb"]) == (0.2, 0.8, 0.0)
    assert weights_on(A100, {}) == uniform_weights(A100)
