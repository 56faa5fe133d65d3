"""Deserved shares and the order of the queue."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Amount, Device, GpuRequest, Mode, Node, Queue, QueueLevel, Rules, Snapshot, Task, plan
from scheduler.shares import deserved
from scheduler.simulate import Arrival, simulate
from tests.scheduler.worlds import steady

Tenants = dict[str, tuple[float, float, float]]

amounts = st.floats(0, 100)
tenants = st.dictionaries(st.sampled_from("abcd"), st.tuples(amounts, st.floats(0.1, 10), amounts), min_size=1)


@steady
@given(st.floats(1, 200), tenants)
def test_shares_add_up_and_nobody_gets_more_than_asked(total: float, who: Tenants) -> None:
    guarantee, weight, demand = ({o: v[i] for o, v in who.items()} for i in range(3))
    share = deserved(total, guarantee, weight, demand)
    assert sum(share.values()) == pytest.approx(min(total, sum(demand.values())), abs=1e-6)
    assert all(share[o] <= demand[o] + 1e-6 for o in who)
    if sum(min(demand[o], guarantee[o]) for o in who) <= total:
        assert all(share[o] >= min(demand[o], guarantee[o]) - 1e-6 for o in who)


@steady
@given(st.floats(1, 200), tenants, st.floats(1.1, 5))
def test_a_share_is_monotone_in_weight(total: float, who: Tenants, factor: float) -> None:
    guarantee, weight, demand = ({o: v[i] for o, v in who.items()} for i in range(3))
    one = sorted(who)[0]
    heavier = {**weight, one: weight[one] * factor}
    assert deserved(total, guarantee, heavier, demand)[one] >= deserved(total, guarantee, weight, demand)[one] - 1e-6


def cluster(cards: int) -> tuple[Node, ...]:
    made = tuple(Device(f"d{i}", i, "nvidia", "A100", 81920) for i in range(cards))
    return (Node("n1", "east", "main", 640000, 655360, made),)


def job(name: str, organisation: str, **fields: Any) -> Task:
    base = Task(name, organisation, "", "u", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE))
    base = replace(base, estimate_p50_s=60.0, estimate_p90_s=60.0)
    return replace(base, **fields)


def backlog(*organisations: str, each: int = 20) -> tuple[Task, ...]:
    return tuple(job(f"{o}-{i:02d}", o, submitted_at=float(i)) for o in organisations for i in range(each))


def started(world: Snapshot) -> dict[str, int]:
    tasks = {task.id: task.organisation for task in world.waiting}
    counts: dict[str, int] = {}
    for place in plan(world, 100.0).places:
        counts[tasks[place.task_id]] = counts.get(tasks[place.task_id], 0) + 1
    return counts


def test_equal_weights_share_equally() -> None:
    assert started(Snapshot(cluster(9), waiting=backlog("a", "b", "c"))) == {"a": 3, "b": 3, "c": 3}


def test_cards_follow_weights() -> None:
    queues = (Queue(QueueLevel.ORGANISATION, "a", "a", weight=2.0), Queue(QueueLevel.ORGANISATION, "b", "b"))
    assert started(Snapshot(cluster(9), waiting=backlog("a", "b"), queues=queues)) == {"a": 6, "b": 3}


def test_guarantees_come_before_weights() -> None:
    promised = Queue(QueueLevel.ORGANISATION, "b", "b", weight=0.1, guarantee=Amount(gpu_milli={"A100": 4000}))
    heavy = Queue(QueueLevel.ORGANISATION, "a", "a", weight=10.0)
    assert started(Snapshot(cluster(8), waiting=backlog("a", "b"), queues=(promised, heavy))) == {"a": 4, "b": 4}


def test_recent_use_moves_an_organisation_back() -> None:
    week = 7 * 86400.0
    used = Queue(QueueLevel.ORGANISATION, "a", "a", decayed_usage={"*": 8000 * week})
    assert started(Snapshot(cluster(4), waiting=backlog("a", "b"), queues=(used,)))["b"] == 4


def test_priority_does_not_cross_organisations() -> None:
    urgent = tuple(replace(task, priority=5) for task in backlog("a"))
    assert started(Snapshot(cluster(6), waiting=urgent + backlog("b"))) == {"a": 3, "b": 3}


def test_users_of_one_organisation_take_turns() -> None:
    waiting = tuple(replace(t, user=f"u{i % 5 == 0}") for i, t in enumerate(backlog("a")))
    users = {task.id: task.user for task in waiting}
    placed = [users[p.task_id] for p in plan(Snapshot(cluster(6), waiting=waiting), 100.0).places]
    assert sorted(placed) == ["uFalse"] * 3 + ["uTrue"] * 3


def test_departments_of_any_depth_share_at_each_level() -> None:
    queues = tuple(
        Queue(QueueLevel.DEPARTMENT, name, "a", parent)
        for name, parent in (("nlp", ""), ("speech", "nlp"), ("text", "nlp"), ("vision", ""))
    )
    waiting = tuple(job(f"{d}-{i}", "a", department=d) for d in ("speech", "text", "vision") for i in range(8))
    departments = {task.id: task.department for task in waiting}
    placed = [departments[p.task_id] for p in plan(Snapshot(cluster(8), waiting=waiting, queues=queues), 1.0).places]
    assert {d: placed.count(d) for d in set(placed)} == {"vision": 4, "speech": 2, "text": 2}


def test_what_was_pushed_off_its_node_goes_first() -> None:
    waiting = (*backlog("a", each=3), job("again", "a", submitted_at=50.0, requeued=True))
    (place,) = plan(Snapshot(cluster(1), waiting=waiting), 100.0).places
    assert place.task_id == "again"


def test_one_that_comes_back_is_given_more_than_its_share_but_not_everything() -> None:
    """Three equal shares of four: two that it may be ahead by, and its own. The others share what is left."""
    day = 86400.0
    used = tuple(Queue(QueueLevel.ORGANISATION, o, o, decayed_usage={"*": 4000 * day}) for o in "abc")
    back = Queue(QueueLevel.ORGANISATION, "d", "d")
    assert started(Snapshot(cluster(16), waiting=backlog("a", "b", "c", "d"), queues=(*used, back))) == {
        "a": 2,
        "b": 2,
        "c": 2,
        "d": 10,
    }


def test_large_jobs_are_no_way_to_more_than_a_share() -> None:
    """Of eight cards two are the share of `a`, whose jobs take four: it has to do without half of the time."""
    queues = tuple(Queue(QueueLevel.ORGANISATION, o, o, weight=w) for o, w in (("a", 1.0), ("b", 3.0)))
    wide = [Arrival(job(f"a{i:02d}", "a", gpu=GpuRequest(Mode.WHOLE, 4)), 3600.0) for i in range(30)]
    small = [Arrival(job(f"b{i:03d}", "b"), 3600.0) for i in range(200)]
    rules = Rules(explain=False)
    report = simulate(cluster(8), [*wide, *small], queues, rules, keep_use=True)
    day = sum(
        max(0.0, min(until, 86400.0) - since) for r in report.records for since, until in r.spans if r.task.id < "b"
    )
    assert 4 * day / (8 * 86400.0) == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("size", [{"cpu_milli": 4000, "memory_mib": 1}, {"cpu_milli": 1, "memory_mib": 4096}])
def test_nor_are_they_where_nobody_asks_for_cards(size: dict[str, int]) -> None:
    """Whoever needs all of the machine would have a turn whenever nobody holds anything; recent use evens it out."""
    whole = [Arrival(job(f"a{i:02d}", "a", gpu=None, **size), 1800.0) for i in range(30)]
    quarter = {resource: max(1, amount // 4) for resource, amount in size.items()}
    small = [Arrival(job(f"b{i:03d}", "b", gpu=None, **quarter), 1800.0) for i in range(200)]
    machine = Node("vm", "z", "c", 4000, 4096, ())
    queues = tuple(Queue(QueueLevel.ORGANISATION, name, name) for name in "ab")
    report = simulate((machine,), [*whole, *small], queues, Rules(explain=False), keep_use=True)
    spans = [span for r in report.records for span in r.spans if r.task.organisation == "a"]
    held = sum(max(0.0, min(until, 43200.0) - since) for since, until in spans)
    assert held / 43200.0 == pytest.approx(0.5, abs=0.1)
