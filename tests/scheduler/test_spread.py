"""Tasks that want to be apart: on different nodes while there is room, together rather than not at all."""

from collections import Counter
from dataclasses import replace

import pytest

from scheduler import Device, GpuRequest, Mode, Node, Plan, Running, Snapshot, Task, plan
from scheduler.engine import Engine
from scheduler.rules import DEFAULT_RULES

NODES = tuple(Node(f"n{i}", "z", "c", 8000, 16384) for i in range(3))


def replica(index: int, name: str | None = "api", cpu_milli: int = 1000) -> Task:
    return Task(f"{name}-{index}", "alice-lab", "", "u", 3, float(index), cpu_milli, 1024, spread=name)


def places(found: Plan) -> dict[str, str]:
    return {each.task_id: each.node_id for each in found.places}


def runs(task: Task, node: str) -> Running:
    return Running(task, task.id, node, (), 0.0)


def test_without_the_wish_they_would_share_a_node() -> None:
    """Packing is what the platform does otherwise; the tests below would prove nothing if it spread by itself."""
    packed = places(plan(Snapshot(NODES, waiting=tuple(replica(i, None) for i in range(3))), 10.0))
    assert len(set(packed.values())) == 1


def test_of_one_pass_each_gets_a_node_of_its_own() -> None:
    found = places(plan(Snapshot(NODES, waiting=tuple(replica(i) for i in range(3))), 10.0))
    assert set(found.values()) == {"n0", "n1", "n2"}


def test_more_than_nodes_are_spread_evenly() -> None:
    found = places(plan(Snapshot(NODES, waiting=tuple(replica(i) for i in range(8))), 10.0))
    assert sorted(Counter(found.values()).values()) == [2, 3, 3]


@pytest.mark.parametrize("taken", ["n0", "n1", "n2"])
def test_those_that_run_already_count(taken: str) -> None:
    found = places(plan(Snapshot(NODES, (runs(replica(0), taken),), (replica(1), replica(2))), 10.0))
    assert taken not in found.values()
    assert len(set(found.values())) == 2


def test_one_that_has_room_only_beside_another_does_not_wait() -> None:
    full = tuple(runs(replica(i, "full", 8000), f"n{i}") for i in (1, 2))
    found = places(plan(Snapshot(NODES, (runs(replica(0), "n0"), *full), (replica(1),)), 10.0))
    assert found == {"api-1": "n0"}


def test_names_do_not_mind_each_other() -> None:
    here = (runs(replica(0), "n0"), runs(replica(0, "web"), "n1"))
    found = places(plan(Snapshot(NODES, here, (replica(1), replica(1, "web"))), 10.0))
    assert found["api-1"] != "n0"
    assert found["web-1"] != "n1"


def test_cards_are_spread_too() -> None:
    nodes = tuple(
        replace(node, devices=tuple(Device(f"{node.id}-{i}", i, "nvidia", "T4", 15360) for i in range(4)))
        for node in NODES
    )
    waiting = tuple(replace(replica(i), gpu=GpuRequest(Mode.WHOLE)) for i in range(3))
    assert len(set(places(plan(Snapshot(nodes, waiting=waiting), 10.0)).values())) == 3


def test_an_engine_forgets_who_left_and_what_a_pass_only_planned() -> None:
    engine = Engine(NODES, (runs(replica(0), "n0"), runs(replica(1), "n1")))
    first = places(engine.plan((replica(2),), 10.0, rules=DEFAULT_RULES))
    assert places(engine.plan((replica(2),), 11.0, rules=DEFAULT_RULES)) == first == {"api-2": "n2"}
    engine.end("api-0")
    engine.start((runs(replica(2), "n2"),))
    assert places(engine.plan((replica(3),), 12.0, rules=DEFAULT_RULES)) == {"api-3": "n0"}
    for index in range(3):
        engine.end(f"api-{index}")
    assert not engine.roster.spread
