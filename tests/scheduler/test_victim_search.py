"""Which of several ways to make room is taken, where a near miss would take another."""

from dataclasses import replace

import pytest

from scheduler import (
    Amount,
    CauseCode,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Running,
    Snapshot,
    plan,
    preempt,
)
from scheduler.cells import Cells, Claim
from scheduler.preempt import Preemptor
from scheduler.roster import Roster, member_of
from scheduler.shares import Shares
from scheduler.timeline import Timeline
from scheduler.types import Slice, Task
from tests.scheduler.test_victims import NOW, asked, job, node, running


def fresh(task: Task, on: str, *cards: int, lost: float = 0.0, **fields: object) -> Running:
    """`lost`: seconds since its start, so times its cards the work that it would lose."""
    return running(task, on, *cards, started_at=NOW - lost, **fields)


def preemptor(*held: tuple[Task, int, tuple[int, ...], float], shares: Shares | None = None) -> Preemptor:
    """Of what runs: task, row, cards and start of each member."""
    cells, roster = Cells([node("n0"), node("n1")]), Roster()
    for task, row, cards, started_at in held:
        pieces = tuple(Slice(f"n{row}-{card}", 81920, 1000) for card in cards)
        roster.add(member_of(cells, task, Claim(row, 1000, 1024, pieces, task.organisation), started_at))
    roster.begin()
    return Preemptor(
        cells,
        Timeline(cells=cells, now=NOW, roster=roster, takes_back=lambda *_: False, outranks=lambda *_: False),
        shares or Shares({}),
        NOW,
        {},
    )


def test_what_a_gang_loses_is_the_sum_over_its_members() -> None:
    gang = job("gang", gang=Gang(2))
    found = preemptor((gang, 0, (0, 1), NOW - 100), (gang, 1, (0,), NOW - 30)).victim("gang")
    assert found is not None
    assert found.lost_gpu_s == 2 * 100 + 30


def test_who_has_just_started_loses_nothing() -> None:
    found = preemptor((job("new"), 0, (0,), NOW)).victim("new")
    assert found is not None
    assert found.lost_gpu_s == 0


@pytest.mark.parametrize(("asks", "holds", "may"), [(2000, 2000, True), (1000, 2000, False), (2000, 1000, False)])
def test_an_organisation_is_asked_by_one_inside_its_guarantee_for_what_is_beyond_its_own(
    asks: int, holds: int, may: bool
) -> None:
    """Alice asks for two cards and is promised `asks` milli-cards; Bob is promised one card and holds `holds`."""
    promises = {"lab": asks, "bob-inc": 1000}
    queues = {
        name: Queue(QueueLevel.ORGANISATION, name, name, guarantee=Amount(gpu_milli={"A100": milli}))
        for name, milli in promises.items()
    }
    shares = Shares({"A100": 8000}, queues.values())
    theirs = [(job(f"b{n}", organisation="bob-inc"), 0, (n,), 0.0) for n in range(holds // 1000)]
    for _each in theirs:
        shares.add("bob-inc", {"A100": 1000, "*": 1000, "cpu_milli": 1000})
    search = preemptor(*theirs, shares=shares)
    victim = search.victim("b0")
    assert victim is not None
    assert search.may_replace(job("asks", 2), victim) is may


def test_room_that_somebody_is_leaving_already_costs_no_card() -> None:
    """With the card that is left, the cores alone have to be freed, and they lose nothing."""
    leaving = fresh(job("leaving", priority=1), "n0", 0, lost=50.0, held_for="other")
    cores = fresh(job("cores", 0, priority=1, cpu_milli=60_000), "n0")
    dear = fresh(job("dear", priority=1), "n0", 1, lost=1000.0)
    mid = fresh(job("mid", priority=1), "n1", 0, lost=500.0)
    world = (node("n0", 2), node("n1", 1))
    urgent = job("urgent", priority=5, cpu_milli=8_000)
    assert asked(Snapshot(world, (leaving, cores, dear, mid), (urgent,))) == ["cores"]


def test_who_is_leaving_and_who_is_asked_make_room_together() -> None:
    leaving = fresh(job("leaving", priority=1), "n0", 0, held_for="other")
    low = fresh(job("low", priority=1), "n0", 1)
    assert asked(Snapshot((node("n0", 2),), (leaving, low), (job("urgent", 2, priority=5),))) == ["low"]


def two_zones() -> tuple[Node, ...]:
    return tuple(replace(node(name, 2), zone="east" if name < "n2" else "west") for name in ("n0", "n1", "n2", "n3"))


@pytest.mark.parametrize("cheap", ["east", "west"])
def test_a_gang_is_given_the_zone_where_it_costs_least(cheap: str) -> None:
    lost = {"n0": 10.0, "n1": 10.0, "n2": 10.0, "n3": 10.0}
    for name in ("n2", "n3") if cheap == "east" else ("n0", "n1"):
        lost[name] = 30.0
    low = tuple(fresh(job(f"low-{name}", 2, priority=1), name, 0, 1, lost=s) for name, s in lost.items())
    found = asked(Snapshot(two_zones(), low, (job("gang", 2, priority=4, gang=Gang(2)),)))
    assert found == (["low-n0", "low-n1"] if cheap == "east" else ["low-n2", "low-n3"])


def test_what_a_victim_frees_in_another_zone_is_no_room_for_the_gang() -> None:
    far = job("far", 2, priority=1, gang=Gang(2))
    spread = (fresh(far, "n0", 0, 1), fresh(far, "n2", 0, 1, member=1))
    low = fresh(job("low", 2, priority=1), "n1", 0, 1, lost=50.0)
    firm = fresh(job("firm", 2, preemptible=False), "n3", 0, 1)
    gang = job("gang", 2, priority=4, gang=Gang(2))
    assert asked(Snapshot(two_zones(), (*spread, low, firm), (gang,))) == ["far", "low"]


def test_a_gang_that_needs_nobody_but_those_who_leave_asks_nobody() -> None:
    """Nor is it said to wait for somebody whom it asked."""
    leaving = [fresh(job(f"leaving{n}", 2, priority=1), f"n{n}", 0, 1, held_for="other") for n in range(2)]
    low = [fresh(job(f"low{n}", priority=1), f"n{n}", 2) for n in range(2)]
    world = tuple(node(f"n{n}", 3) for n in range(2))
    outcome = plan(Snapshot(world, (*leaving, *low), (job("gang", 2, priority=4, gang=Gang(2)),)), NOW)
    assert not outcome.preempts
    assert [wait.cause.code for wait in outcome.waits] == [CauseCode.DEVICES]


def test_a_node_that_cannot_be_emptied_does_not_end_the_search_for_a_member() -> None:
    """In the order of what they seem to cost: one whose cores are dearer than its cards, one whose cores stay."""
    low = [fresh(job(f"low{n}", 2, priority=1), f"n{n}", 0, 1, lost=10.0 * n) for n in (1, 2, 3)]
    dear = fresh(job("dear", 0, priority=2, cpu_milli=60_000), "n1")
    firm = fresh(job("firm", 0, preemptible=False, cpu_milli=60_000), "n2")
    world = tuple(node(f"n{n}", 2) for n in (1, 2, 3))
    gang = job("gang", 2, priority=4, cpu_milli=8_000, gang=Gang(2))
    assert asked(Snapshot(world, (*low, dear, firm), (gang,))) == ["dear", "low1", "low3"]


def test_what_one_more_member_costs_is_compared_by_lost_work_alone() -> None:
    """A gang that loses nothing goes first; of the two nodes left, the one that seems cheaper is not."""
    free = job("free", 1, priority=1, gang=Gang(2))
    first = (fresh(replace(free, gpu=GpuRequest(Mode.WHOLE, 2)), "n0", 0, 1), fresh(free, "n3", 0, member=1))
    pair = [fresh(job(f"pair{n}", priority=1), "n1", n, lost=5.0 + n) for n in range(2)]
    one = fresh(job("one", 2, priority=1), "n2", 0, 1, lost=5.25)
    world = (node("n0", 2), node("n1", 2), node("n2", 2), node("n3", 1))
    assert asked(Snapshot(world, (*first, *pair, one), (job("gang", 2, priority=4, gang=Gang(2)),))) == ["free", "one"]


@pytest.mark.parametrize(("dear", "found"), [(9, ["three"]), (10, ["other two", "two"])])
def test_all_sets_are_tried_among_twelve_and_not_among_thirteen(dear: int, found: list[str]) -> None:
    """Three cards: two tasks of two lose least by card, and 41 GPU-seconds together; one of three loses 33."""
    held = (("two", (0, 1), 10.0), ("other two", (2, 3), 10.5), ("three", (4, 5, 6), 11.0))
    cheap = tuple(fresh(job(n, len(cards), priority=1), "n0", *cards, lost=s) for n, cards, s in held)
    others = tuple(fresh(job(f"dear{n}", priority=2), "n0", 7 + n) for n in range(dear))
    assert asked(Snapshot((node("n0", 7 + dear),), (*cheap, *others), (job("urgent", 3, priority=5),))) == found


def test_a_set_of_all_but_one_is_tried() -> None:
    """Three cards: the two of two cards lose least by card, and more together than one of them with the single."""
    held = (("x", (0, 1), 10.0), ("y", (2, 3), 10.5), ("z", (4,), 11.0))
    low = tuple(fresh(job(n, len(cards), priority=1), "n0", *cards, lost=s) for n, cards, s in held)
    assert asked(Snapshot((node("n0", 5),), low, (job("urgent", 3, priority=5),))) == ["x", "z"]


Holds = tuple[int, int, float]  # cards, milli-cores, seconds since its start


@pytest.mark.parametrize(
    ("a", "b", "first"),
    [
        ((1, 1000, 10.0), (1, 3000, 19.0), "b"),
        ((1, 1000, 10.0), (1, 3000, 25.0), "a"),
        ((1, 1000, 10.0), (1, 3000, 20.0), "a"),
        ((1, 3000, 20.0), (1, 1000, 10.0), "a"),
        ((2, 1000, 5.0), (1, 3000, 6.0), "b"),
    ],
)
def test_cores_alone_are_freed_where_least_is_lost_for_each(
    monkeypatch: pytest.MonkeyPatch, a: Holds, b: Holds, first: str
) -> None:
    """By a core more than it holds, so that nothing is divided by nothing; equals go by name."""
    monkeypatch.setattr(preempt, "EXACT_VICTIMS", 0)
    held, start = [], 0
    for name, (cards, cpu_milli, lost) in (("a", a), ("b", b)):
        task = job(name, cards, priority=1, cpu_milli=cpu_milli)
        held.append(fresh(task, "n0", *range(start, start + cards), lost=lost))
        start += cards
    world = node("n0", 3, cpu_milli=a[1] + b[1])
    assert asked(Snapshot((world,), tuple(held), (job("urgent", 0, priority=5, cpu_milli=1000),))) == [first]


def test_a_gang_holds_what_all_of_its_members_hold() -> None:
    gang = job("gang", gang=Gang(2))
    found = preemptor((gang, 0, (0, 1), 0.0), (gang, 1, (0,), 0.0)).victim("gang")
    assert found is not None
    assert dict(found.bundle) == {"cpu_milli": 2000, "memory_mib": 2048, "A100": 3000, "*": 3000}


def test_of_many_nodes_with_as_much_room_the_first_takes_a_gang() -> None:
    world = tuple(node(f"n{n:03d}", 4 if n % 2 else 2) for n in range(200))
    places = plan(Snapshot(world, (), (job("gang", gang=Gang(3, one_node=True)),)), NOW).places
    assert {place.node_id for place in places} == {"n001"}


def sharing(name: str, organisation: str, **fields: object) -> Task:
    gpu = GpuRequest(Mode.SHARED, 1, core_milli=250, memory_mib=8192)
    return job(name, organisation=organisation, user=organisation, gpu=gpu, **fields)


def test_a_card_that_a_gang_shares_is_its_organisations() -> None:
    card = replace(node(cards=1).devices[0], mode=Mode.SHARED)
    world = Snapshot(
        (replace(node(cards=1), devices=(card,)),),
        waiting=(sharing("gang", "bob-inc", gang=Gang(2)), sharing("other", "lab")),
    )
    assert sorted(place.task_id for place in plan(world, NOW).places) == ["gang", "gang"]


def test_a_gang_of_one_node_never_fits_where_only_several_nodes_have_room() -> None:
    world = (node("n0"), node("n1"))
    gang = job("gang", 4, gang=Gang(2, one_node=True))
    (wait,) = plan(Snapshot(world, (), (gang,)), NOW).waits
    assert wait.cause.code is CauseCode.NEVER_FITS
    assert len(plan(Snapshot(world, (), (replace(gang, gang=Gang(2)),)), NOW).places) == 2


def test_a_gang_that_a_sick_card_stops_is_not_told_never() -> None:
    cards = node().devices
    sick = replace(node(), devices=(replace(cards[0], healthy=False), *cards[1:]))
    (wait,) = plan(Snapshot((sick,), (), (job("gang", 2, gang=Gang(2)),)), NOW).waits
    assert wait.cause.code is CauseCode.GANG


def test_an_equal_share_may_be_held_to_the_last_thousandth() -> None:
    shares = Shares({"A100": 2000})
    shares.add("lab", {"A100": 1000})
    shares.add("bob-inc", {"A100": 1})
    shares.set_baseline([])
    assert shares.stays_within_equal_share("lab", {})
    assert not shares.stays_within_equal_share("lab", {"A100": 1})
