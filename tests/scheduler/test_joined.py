"""Gangs on nodes that a network joins, and on nodes that none does."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler import Gang, Node, Snapshot
from scheduler.decisions import CauseCode
from scheduler.engine import plan
from tests.scheduler.test_preempt import NOW, job, nodes, running, victims
from tests.scheduler.worlds import snapshots


def apart(world: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(node, joined=False) for node in world)


PAIR = job("gang", 2, gang=Gang(2))


def test_a_gang_spans_joined_nodes_alone() -> None:
    world = nodes(2, 2)
    assert {place.node_id for place in plan(Snapshot(world, (), (PAIR,)), NOW).places} == {"n0", "n1"}
    assert not plan(Snapshot(apart(world), (), (PAIR,)), NOW).places
    one_of_them = (replace(world[0], joined=False), world[1])
    assert not plan(Snapshot(one_of_them, (), (PAIR,)), NOW).places


def test_a_gang_that_fits_on_one_node_that_nothing_joins_starts_there() -> None:
    outcome = plan(Snapshot(apart(nodes(2, 4)), (), (PAIR,)), NOW)
    assert len(outcome.places) == 2
    assert len({place.node_id for place in outcome.places}) == 1


def test_what_would_fit_on_joined_nodes_says_that_these_are_not() -> None:
    [wait] = plan(Snapshot(apart(nodes(2, 2)), (), (PAIR,)), NOW).waits
    assert (wait.cause.code, wait.cause.params) == (CauseCode.NEVER_FITS, {"members": 2, "apart": True})
    five = job("gang", 2, gang=Gang(5))
    [wait] = plan(Snapshot(nodes(2, 2), (), (five,)), NOW).waits
    assert wait.cause.params == {"members": 5}
    [wait] = plan(Snapshot(apart(nodes(2, 2)), (), (five,)), NOW).waits
    assert wait.cause.params == {"members": 5}, "a network would be of no help"


def test_a_gang_waits_for_a_card_to_be_healed_but_not_for_one_that_is_not_there() -> None:
    (node,) = nodes(1, 2)
    gang = job("gang", 1, gang=Gang(2))
    sick = replace(node, devices=(node.devices[0], replace(node.devices[1], healthy=False)))
    [wait] = plan(Snapshot((sick,), (), (gang,)), NOW).waits
    assert wait.cause.code is not CauseCode.NEVER_FITS
    [wait] = plan(Snapshot((replace(node, devices=node.devices[:1]),), (), (gang,)), NOW).waits
    assert wait.cause.code is CauseCode.NEVER_FITS


def test_what_waits_for_one_node_says_why_it_must_be_one() -> None:
    world = apart(nodes(2, 4))
    half = tuple(running(job(f"half{n}", 2), f"n{n}", [0, 1]) for n in range(2))
    [wait] = plan(Snapshot(world, half, (PAIR,)), NOW).waits
    assert wait.cause.code is CauseCode.GANG
    assert wait.cause.params == {"nodes_with_room": 2, "members": 2, "apart": True}
    assert len(plan(Snapshot(nodes(2, 4), half, (PAIR,)), NOW).places) == 2


def test_one_node_is_emptied_where_nothing_joins_them() -> None:
    """Two cheap victims on two nodes would make room for two members that could not reach each other."""
    cheap = [running(job(f"cheap{n}", 2, priority=1), f"n{n}", [0, 1], NOW - 1.0) for n in range(2)]
    dear = running(job("dear", 4, priority=1), "n2", [0, 1, 2, 3], 0.0)
    world = (*nodes(2, 2), nodes(3, 4)[2])
    gang = job("gang", 2, priority=4, gang=Gang(2))
    assert victims(plan(Snapshot(apart(world), (*cheap, dear), (gang,)), NOW)) == ["dear"]
    assert victims(plan(Snapshot(world, (*cheap, dear), (gang,)), NOW)) == ["cheap0", "cheap1"]


def test_victims_are_taken_from_one_domain() -> None:
    """Two zones with a cheap victim each are of no use; the dear ones share one."""
    cheap = [running(job(f"cheap{n}", 2, priority=1), f"n{n}", [0, 1], NOW - 1.0) for n in range(2)]
    dear = [running(job(f"dear{n}", 2, priority=2), f"n{n}", [0, 1], 0.0) for n in (2, 3)]
    first, second, *rest = nodes(4, 2)
    world = (replace(first, zone="north"), replace(second, zone="south"), *rest)
    gang = job("gang", 2, priority=4, gang=Gang(2))
    assert victims(plan(Snapshot(world, (*cheap, *dear), (gang,)), NOW)) == ["dear2", "dear3"]


@given(snapshots(), st.data())
def test_members_of_a_gang_are_never_on_two_nodes_of_which_one_is_not_joined(
    snapshot: Snapshot, data: st.DataObject
) -> None:
    world = tuple(replace(node, joined=data.draw(st.booleans())) for node in snapshot.nodes)
    outcome = plan(replace(snapshot, nodes=world), 100.0)
    alone = {node.id for node in world if not node.joined}
    for task in snapshot.waiting:
        places = {place.node_id for place in outcome.places_of(task.id)}
        assert len(places) <= 1 or not places & alone
