"""What it costs to ask somebody to go, and who is spared after all."""

from dataclasses import replace
from typing import Any

import pytest

from scheduler import (
    Amount,
    Device,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Running,
    Slice,
    Snapshot,
    Task,
    plan,
    preempt,
)
from scheduler.cells import Cells, Claim
from scheduler.demand import demand_of
from scheduler.host import host_of
from scheduler.preempt import Preemptor
from scheduler.roster import Roster, member_of
from scheduler.shares import Shares
from scheduler.timeline import Timeline
from scheduler.victims import (
    Eviction,
    Victim,
    bundle_of_members,
    by_cost,
    cost_of,
    prune,
    put_back_victim,
    remove_victim,
)

NOW = 10_000.0


def node(name: str = "n0", cards: int = 4, cpu_milli: int = 64_000) -> Node:
    devices = tuple(Device(f"{name}-{i}", i, "nvidia", "A100", 81920) for i in range(cards))
    return Node(name, "east", "main", cpu_milli, 655_360, devices)


def job(name: str, cards: int = 1, **fields: Any) -> Task:
    gpu = GpuRequest(Mode.WHOLE, cards) if cards else None
    base = Task(name, "lab", "", "alice", 3, 0.0, 1000, 1024, gpu, preemptible=True)
    return replace(base, **fields)


def running(task: Task, on: str, *cards: int, **fields: Any) -> Running:
    slices = tuple(Slice(f"{on}-{card}", 81920, 1000) for card in cards)
    return replace(Running(task, f"{task.id}@{on}", on, slices, 0.0), **fields)


def asked(world: Snapshot, now: float = NOW) -> list[str]:
    return sorted(decision.task_id for decision in plan(world, now).preempts)


def victim(cells: Cells, name: str, *pieces: tuple[int, int], priority: int = 1, lost: float = 0.0) -> Victim:
    """`pieces`: row and card of each member."""
    task = job(name, priority=priority)
    claims = [Claim(row, 1000, 1024, (Slice(f"n{row}-{card}", 81920, 1000),), "lab") for row, card in pieces]
    for claim in claims:
        cells.take(claim)
    members = tuple(member_of(cells, task, claim, 0.0) for claim in claims)
    return Victim(task, members, lost, bundle_of_members(members))


def test_the_cost_is_the_highest_priority_then_lost_work_then_gangs_then_how_many() -> None:
    cells = Cells([node("n0"), node("n1")])
    alone = victim(cells, "alone", (0, 0), priority=2, lost=10.0004)
    gang = victim(cells, "gang", (0, 1), (1, 1), priority=1, lost=5.0)
    assert (alone.cost, gang.cost) == ((2, 10.0, 0, 1), (1, 5.0, 1, 1))
    assert cost_of([alone, gang]) == (2, 15.0, 1, 2)
    assert cost_of([]) == (0, 0, 0, 0)
    assert (alone.rows, gang.rows) == ({0}, {0, 1})
    assert dict(gang.bundle) == {"cpu_milli": 2000, "memory_mib": 2048, "A100": 2000, "*": 2000}
    eviction = Eviction((alone, gang), (Claim(0, 0, 0, (), "lab"), Claim(1, 0, 0, (), "lab")))
    assert by_cost(eviction) == ((2, 15.0, 1, 2), 1)


def test_only_members_on_the_row_leave_it_and_come_back() -> None:
    cells = Cells([node("n0"), node("n1")])
    gang = victim(cells, "gang", (0, 0), (1, 0), (0, 1))
    host = host_of(cells, 0)
    before = (host.cpu, list(host.core))
    remove_victim(host, gang)
    assert (host.cpu, host.core) == (64_000, [1000] * 4)
    put_back_victim(host, gang)
    assert (host.cpu, host.core) == before == (62_000, [0, 0, 1000, 1000])


def test_the_dearest_of_those_that_are_not_needed_is_spared_first() -> None:
    cells = Cells([node(cards=3)])
    victims = [victim(cells, name, (0, card), lost=float(card)) for card, name in enumerate(("cheap", "mid", "dear"))]
    host = host_of(cells, 0)
    for each in victims:
        remove_victim(host, each)
    chosen = list(victims)
    prune(host, demand_of(job("asks", 2)), chosen)
    assert [each.task.id for each in chosen] == ["cheap", "mid"]
    assert host.core == [1000, 1000, 0]


@pytest.mark.parametrize(("ran", "may"), [(599.0, False), (600.0, True)])
def test_a_task_is_asked_once_it_has_had_its_minimum_run_time(ran: float, may: bool) -> None:
    low = running(job("low", priority=1, min_runtime_s=600.0), "n0", 0, started_at=NOW - ran)
    assert asked(Snapshot((node(cards=1),), (low,), (job("urgent", priority=5),))) == (["low"] if may else [])


def test_every_member_of_a_gang_must_have_had_its_minimum_run_time() -> None:
    gang = job("gang", priority=1, min_runtime_s=600.0, gang=Gang(2))
    members = (running(gang, "n0", 0), running(gang, "n0", 1, member=1, started_at=NOW - 60))
    urgent = job("urgent", 2, priority=5)
    assert asked(Snapshot((node(cards=2),), members, (urgent,))) == []
    assert asked(Snapshot((node(cards=2),), members, (urgent,)), NOW + 600) == ["gang"]


def test_lost_work_counts_by_the_compute_that_it_took_and_since_the_last_checkpoint() -> None:
    """Two cards for 100 s are more than one for 150 s; a checkpoint before the start saves nothing."""
    wide = running(job("wide", 2, priority=1), "n0", 0, 1, started_at=NOW - 100)
    narrow = running(job("narrow", 2, priority=1), "n1", 0, 1, started_at=NOW - 5000, last_checkpoint_at=NOW - 90)
    urgent = job("urgent", 2, priority=5)
    both = (node("n0", 2), node("n1", 2))
    assert asked(Snapshot(both, (wide, narrow), (urgent,))) == ["narrow"]
    late = replace(narrow, last_checkpoint_at=NOW - 110)
    assert asked(Snapshot(both, (wide, late), (urgent,))) == ["wide"]
    stale = replace(wide, last_checkpoint_at=NOW - 9000)
    assert asked(Snapshot(both, (stale, late), (urgent,))) == ["wide"]
    ahead = replace(narrow, last_checkpoint_at=NOW + 50)
    assert asked(Snapshot(both, (wide, ahead), (urgent,))) == ["narrow"]


def test_one_task_rather_than_a_gang_and_few_rather_than_many() -> None:
    """At the same priority and with nothing to lose."""
    urgent = job("urgent", 2, priority=5)
    fresh = {"started_at": NOW}
    gang = job("gang", priority=1, gang=Gang(2))
    members = (running(gang, "n0", 0, **fresh), running(gang, "n0", 1, member=1, **fresh))
    single = running(job("single", 2, priority=1), "n1", 0, 1, **fresh)
    both = (node("n0", 2), node("n1", 2))
    assert asked(Snapshot(both, (*members, single), (urgent,))) == ["single"]
    two = tuple(running(job(f"two{i}", priority=1), "n0", i, **fresh) for i in range(2))
    assert asked(Snapshot(both, (*two, single), (urgent,))) == ["single"]


def test_lower_priorities_go_first_whatever_they_lose() -> None:
    lowest = running(job("lowest", priority=1), "n0", 0, started_at=0.0)
    low = running(job("low", priority=2), "n0", 1, started_at=NOW - 1)
    assert asked(Snapshot((node(cards=2),), (lowest, low), (job("urgent", priority=5),))) == ["lowest"]
    assert asked(Snapshot((node(cards=2),), (lowest, low), (job("equal", priority=1),))) == []


@pytest.mark.parametrize("crowd", [11, 13])
def test_among_a_few_the_cheapest_set_is_found_and_among_many_one_without_a_needless_victim(crowd: int) -> None:
    """The first takes one card each, the last four at once: four small ones lose more than the large one."""
    small = tuple(running(job(f"s{i:02d}", priority=1), "n0", i, started_at=NOW - 100) for i in range(crowd))
    cards = tuple(range(crowd, crowd + 4))
    large = running(job("large", 4, priority=1), "n0", *cards, started_at=NOW - 90)
    found = asked(Snapshot((node(cards=crowd + 4),), (*small, large), (job("urgent", 4, priority=5),)))
    assert found == ["large"]


def test_a_set_that_is_cheaper_than_the_cheapest_by_card_is_found() -> None:
    """Three cards: two tasks of two lose least by card, and 41 GPU-seconds together; one of three loses 33."""
    held = (("two", (0, 1), 10.0), ("other two", (2, 3), 10.5), ("three", (4, 5, 6), 11.0))
    taken = tuple(running(job(n, len(cards), priority=1), "n0", *cards, started_at=NOW - s) for n, cards, s in held)
    assert asked(Snapshot((node(cards=7),), taken, (job("urgent", 3, priority=5),))) == ["three"]


def test_a_task_without_cards_makes_room_for_one_with_cards_where_a_card_is_free() -> None:
    low = running(job("low", 0, priority=1, cpu_milli=64_000), "n0")
    assert asked(Snapshot((node(),), (low,), (job("urgent", priority=5),))) == ["low"]


def test_a_node_that_is_promised_to_another_from_a_known_time_on_is_not_emptied_for_those_behind() -> None:
    low = running(job("low", priority=1, estimate_p50_s=NOW + 60, estimate_p90_s=NOW + 60), "n0", 0)
    urgent, promised = job("urgent", priority=5), job("next", organisation="bob-inc", user="bob")
    assert asked(Snapshot((node(cards=1),), (low,), (urgent,))) == ["low"]
    assert asked(Snapshot((node(cards=1),), (low,), (urgent, promised))) == []


def test_a_task_that_started_in_this_pass_is_nobodys_victim() -> None:
    cells, roster = Cells([node()]), Roster()
    for index, name in enumerate(("earlier", "now")):
        claim = Claim(0, 1000, 1024, (Slice(f"n0-{index}", 81920, 1000),), "lab")
        roster.add(member_of(cells, job(name), claim, NOW))
        if name == "earlier":
            roster.begin()
    timeline = Timeline(cells=cells, now=NOW, roster=roster, takes_back=lambda *_: False, outranks=lambda *_: False)
    preemptor = Preemptor(cells, timeline, Shares({}), NOW, {})
    assert preemptor.victim("earlier") is not None
    assert preemptor.victim("now") is None


def test_who_comes_after_one_that_others_make_room_for_is_told_when_that_will_end() -> None:
    low = running(job("low", priority=1), "n0", 0)
    urgent = job("urgent", priority=5, estimate_p50_s=100.0, estimate_p90_s=100.0)
    after = job("after", priority=4, preemptible=False)
    wait = plan(Snapshot((node(cards=1),), (low,), (urgent, after)), NOW).wait_for("after")
    assert wait is not None
    assert wait.start_p50 == NOW + 100


def test_a_gang_takes_what_is_free_and_asks_for_the_rest_only() -> None:
    low = tuple(running(job(f"low{n}", 2, priority=1), f"n{n}", 0, 1, started_at=NOW - n) for n in range(3))
    world = (*(node(f"n{n}", 2) for n in range(3)), node("n3", 2))
    gang = job("gang", 2, priority=4, gang=Gang(3))
    assert asked(Snapshot(world, low, (gang,))) == ["low0", "low1"]
    assert asked(Snapshot(world, low, (replace(gang, gang=Gang(5)),))) == []
    firm = replace(low[2], task=job("firm", 2, preemptible=False))
    elastic = replace(gang, gang=Gang(5, 3))
    assert asked(Snapshot(world, (low[0], low[1], firm), (elastic,))) == ["low0", "low1"]


@pytest.mark.parametrize("gang", [None, Gang(2, one_node=True)])
def test_no_more_nodes_are_searched_than_the_limit(monkeypatch: pytest.MonkeyPatch, gang: Gang | None) -> None:
    """The cards of the first are the cheapest to free, but its cores are with somebody of higher priority."""
    low = [running(job(f"low{n}", 2, priority=1), f"n{n}", 0, 1, started_at=NOW - 10 * n) for n in (1, 2)]
    cores = running(job("cores", 0, priority=2, cpu_milli=60_000), "n1")
    asks = job("asks", 1 if gang else 2, priority=4, cpu_milli=8_000, gang=gang)
    world = Snapshot((node("n1", 2), node("n2", 2)), (*low, cores), (asks,))
    assert asked(world) == ["low2"]
    monkeypatch.setattr(preempt, "SEARCH_ROWS", 1)
    assert asked(world) == ["cores", "low1"]


@pytest.mark.parametrize(("held", "go"), [(3, []), (4, ["b0", "b1"])])
def test_two_that_could_go_alone_do_not_go_together_below_a_guarantee(held: int, go: list[str]) -> None:
    """Bob is promised two cards; a task that needs two asks for what he holds beyond them."""
    promise = Amount(gpu_milli={"A100": 2000})
    queues = tuple(Queue(QueueLevel.ORGANISATION, o, o, guarantee=promise) for o in ("lab", "bob-inc"))
    theirs = tuple(running(job(f"b{card}", organisation="bob-inc"), "n0", card) for card in range(held))
    assert asked(Snapshot((node("n0", held),), theirs, (job("asks", 2),), queues)) == go


def test_who_holds_nothing_that_is_of_use_may_still_be_looked_at() -> None:
    card_alone = running(job("card", priority=1, cpu_milli=0), "n0", 0)
    cores = running(job("cores", 0, priority=1, cpu_milli=60_000), "n0")
    assert asked(Snapshot((node(cards=1),), (card_alone, cores), (job("asks", 0, cpu_milli=30_000),))) == ["cores"]
