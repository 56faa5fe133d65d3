"""What a search for victims relies on: no set of victims is cheaper than its floor, and who has been asked is gone."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler.candidates import Candidates, VictimTable
from scheduler.cells import Claim
from scheduler.roster import Member
from scheduler.shares import Shares
from scheduler.types import Amount, GpuRequest, Mode, Queue, QueueLevel, Slice, Task
from scheduler.victims import Victim, bundle_of_members, cost_of
from tests.scheduler.worlds import steady

ROWS = 3
PROMISED = Queue(QueueLevel.ORGANISATION, "bob-inc", "bob-inc", guarantee=Amount(gpu_milli={"A100": 2000}))


@st.composite
def victims(draw: st.DrawFn) -> list[Victim]:
    """Tasks of one or two members, each with up to three cards of its own on some row."""
    made, next_card = [], [0] * ROWS
    for index in range(draw(st.integers(1, 7))):
        organisation, priority = draw(st.sampled_from(["alice-lab", "bob-inc"])), draw(st.integers(1, 3))
        gpu = GpuRequest(Mode.WHOLE, draw(st.integers(0, 3)))
        yields = draw(st.booleans())  # where the platform says so, others' guarantees may ask what does not
        task = Task(f"t{index}", organisation, "", "", priority, 0.0, 0, 0, gpu, preemptible=yields)
        members = []
        for row in draw(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=2, unique=True)):
            columns = tuple(range(next_card[row], next_card[row] + gpu.count))
            next_card[row] += gpu.count
            slices = tuple(Slice(f"n{row}-{column}", 0, 1000) for column in columns)
            bundle = {"A100": 1000 * gpu.count, "*": 1000 * gpu.count}
            members.append(Member(task, Claim(row, 0, 0, slices, organisation), 0.0, bundle, columns))
        lost = float(draw(st.sampled_from([0, 10, 10, 500, 7000])))
        made.append(Victim(task, tuple(members), lost, bundle_of_members(members)))
    return made


def shares_of(made: list[Victim]) -> Shares:
    shares = Shares({"A100": 100_000, "*": 100_000}, (PROMISED,))
    for victim in made:
        shares.add(victim.task.organisation, victim.bundle)
    return shares


def waiting(priority: int) -> Task:
    return Task("asks", "alice-lab", "", "", priority, 0.0, 0, 0, GpuRequest(Mode.WHOLE))


def cards_on(row: int, chosen: tuple[Victim, ...]) -> int:
    return sum(len(m.columns) for victim in chosen for m in victim.members if m.claim.row == row)


@steady
@given(victims(), st.lists(st.integers(0, 4), min_size=ROWS, max_size=ROWS), st.integers(1, 4))
def test_no_set_that_frees_enough_costs_less_than_the_floor(
    made: list[Victim], short: list[int], priority: int
) -> None:
    everybody = Candidates(shares_of(made), ROWS, VictimTable(made))
    may = everybody.replaceable_by(waiting(priority), reclaims=True)
    floors = everybody.cost_floors(may, np.array(short, np.int64))
    assert floors == sorted(floors)
    floor = {row: (at_priority, lost) for at_priority, lost, row in floors}
    for row in range(ROWS):
        here = everybody.on_row(row, may)
        could_do = bool(here) and (not short[row] or cards_on(row, tuple(here)) > 0)
        assert (row in floor) == could_do  # nothing is looked for where nobody may be asked
        for size in range(1, len(here) + 1):
            for chosen in combinations(here, size):
                if cards_on(row, chosen) >= short[row]:
                    assert floor[row] <= cost_of(chosen)[:2]


@steady
@given(victims(), st.booleans(), st.integers(1, 4))
def test_only_those_who_may_be_asked_are_named_until_they_have_been(
    made: list[Victim], reclaims: bool, priority: int
) -> None:
    shares, asks = shares_of(made), waiting(priority)
    everybody = Candidates(shares, ROWS, VictimTable(made))
    left = list(made)
    while True:
        may = everybody.replaceable_by(asks, reclaims)
        named = {v.task.id for row in range(ROWS) for v in everybody.on_row(row, may)}
        mine = [v.task for v in left if v.task.organisation == asks.organisation]
        own = {task.id for task in mine if task.preemptible and task.priority < priority}
        others = {v.task.id for v in left if v.task.organisation != asks.organisation}
        spared = {v.task.id for v in left if shares.above_guarantee(v.task.organisation, v.bundle)}
        assert named == own | (others & spared if reclaims else set())
        if not named:
            return
        gone = next(v for v in left if v.task.id == min(named))
        everybody.remove([gone])
        shares.add(gone.task.organisation, gone.bundle, -1)
        left.remove(gone)
