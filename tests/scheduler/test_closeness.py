"""Several whole cards of one node are the ones that are nearest to each other."""

from itertools import combinations
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from scheduler import Device, GpuRequest, Mode, Node, Running, Slice, Snapshot, Task, plan
from scheduler.cells import Cells
from scheduler.closeness import FAR, MOST_SETS, Distances, apart, closest, distances_between
from scheduler.demand import demand_of
from scheduler.host import host_of
from tests.scheduler.worlds import steady

NVLINK, NEAR, SYSTEM = 2, 30, 70


def linked(count: int, near: dict[tuple[int, int], int]) -> tuple[Device, ...]:
    """So many cards, `near` for pairs of them, told by the first of each pair alone."""
    told = [tuple((f"c{other}", far) for (one, other), far in near.items() if one == card) for card in range(count)]
    return tuple(Device(f"c{card}", card, "nvidia", "H100", 81_920, near=told[card]) for card in range(count))


# Two pairs with NVLink each, on two sockets, as in many servers of four cards; the pairs are (0, 2) and (1, 3).
PAIRS = linked(4, {(0, 2): NVLINK, (1, 3): NVLINK, (0, 1): SYSTEM, (0, 3): SYSTEM, (1, 2): SYSTEM, (2, 3): SYSTEM})
NODE = Node("n", "east", "main", 64_000, 65_536, PAIRS)


def asks(name: str, cards: int) -> Task:
    return Task(name, "lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, cards))


def taken(*waiting: Task, running: tuple[Running, ...] = ()) -> list[tuple[str, ...]]:
    places = plan(Snapshot((NODE,), running, waiting), 0.0).places
    return [tuple(piece.device_id for piece in place.slices) for place in places]


def test_two_cards_are_a_pair() -> None:
    assert taken(asks("a", 2)) == [("c0", "c2")]
    assert sorted(taken(asks("a", 2), asks("b", 2))) == [("c0", "c2"), ("c1", "c3")]
    held = Running(asks("held", 1), "held", "n", (Slice("c0", 81_920, 1000),), 0.0)
    assert taken(asks("a", 2), running=(held,)) == [("c1", "c3")]


def test_what_is_planned_for_later_takes_the_same_cards() -> None:
    claim = host_of(Cells((NODE,)), 0).fits(demand_of(asks("a", 2)))
    assert claim is not None
    assert [piece.device_id for piece in claim.slices] == ["c0", "c2"]
    assert host_of(Cells((NODE,)), 0).fits(demand_of(asks("a", 5))) is None


def test_without_any_word_of_it_cards_go_by_index() -> None:
    assert distances_between(linked(4, {})) is None
    odd = (Device("a", 0, "nvidia", "H100", 1, near=(("a", 5), ("gone", 5), ("b", -1), ("b", FAR))),
           Device("b", 1, "nvidia", "H100", 1))  # fmt: skip
    assert distances_between(odd) == ((0, FAR), (FAR, 0))


@st.composite
def matrices(draw: st.DrawFn, most: int) -> Distances:
    size = draw(st.integers(2, most))
    far = {pair: draw(st.sampled_from([2, 4, 30, 50, 70, FAR])) for pair in combinations(range(size), 2)}
    told = [[far.get((min(a, b), max(a, b)), 0) for b in range(size)] for a in range(size)]
    return tuple(map(tuple, told))


@steady
@given(matrices(8), st.data())
def test_no_other_free_set_of_that_size_is_better(distances: Distances, data: st.DataObject) -> None:
    free = tuple(sorted(data.draw(st.sets(st.sampled_from(range(len(distances))), min_size=1))))
    count = data.draw(st.integers(1, len(free)))
    chosen = closest(distances, free, count)
    assert chosen == closest.__wrapped__(distances, free, count)
    assert len(set(chosen)) == count
    assert set(chosen) <= set(free)
    best = apart(distances, chosen)
    for other in combinations(free, count):
        assert best <= apart(distances, other)
        assert best < apart(distances, other) or chosen <= other  # of equals the first


@steady
@given(matrices(18), st.data())
def test_of_many_cards_it_is_a_set_of_free_ones(distances: Distances, data: st.DataObject) -> None:
    free = tuple(range(len(distances)))
    count = data.draw(st.integers(1, len(free)))
    chosen = closest(distances, free, count)
    assert tuple(sorted(set(chosen))) == chosen
    assert len(chosen) == count


def test_a_card_alone_is_not_apart() -> None:
    assert apart(((0, FAR), (FAR, 0)), (1,)) == (0, 0)


def test_of_too_many_sets_to_compare_it_is_built_around_the_best_card() -> None:
    """Two crowds of ten cards each: whoever needs ten gets one of them whole."""
    told = tuple(tuple(0 if a == b else NVLINK if a % 2 == b % 2 else SYSTEM for b in range(20)) for a in range(20))
    assert comb(20, 10) > MOST_SETS
    free = tuple(card for card in range(20) if card != 2)
    assert closest.__wrapped__(told, free, 10) == tuple(range(1, 20, 2))
