"""The plan of a gang's network over machines: no two attempts meet, and every name leads to its member."""

import json
from ipaddress import ip_address
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.base import Gang
from apps.workloads.drivers.local import gang_network
from apps.workloads.drivers.overlay import (
    LAST_NUMBER,
    Ability,
    Kind,
    Overlay,
    Plan,
    free_number,
    member_address,
    plan,
    subnet,
    vni,
)
from apps.workloads.drivers.said import Code, Said
from apps.workloads.spec import MOST_MEMBERS

GROUP = uuid4()
numbers = st.integers(1, LAST_NUMBER)
teams = st.lists(st.integers(0, 7), min_size=1, max_size=MOST_MEMBERS)


def over(number: int, team: list[int]) -> tuple[Overlay, tuple[str, ...]]:
    """A gang whose member of each rank is on the node of this number."""
    return Overlay(number, tuple(f"198.18.0.{node + 1}" for node in team)), tuple(f"node-{node}" for node in team)


def plans(number: int, team: list[int]) -> dict[str, Plan]:
    overlay, nodes = over(number, team)
    return {node: plan(overlay, nodes, node) for node in nodes}


@given(st.sets(numbers, max_size=20), st.integers(0, LAST_NUMBER))
def test_a_number_is_no_live_attempts(taken: set[int], last: int) -> None:
    found = free_number(taken, last)
    assert found is not None
    assert found not in taken
    assert 1 <= found <= LAST_NUMBER


@given(st.integers(0, LAST_NUMBER))
def test_a_number_is_not_used_again_before_all_others_were(last: int) -> None:
    given = {last}
    for _each in range(5):
        found = free_number((), last)
        assert found is not None
        assert found not in given
        given.add(found)
        last = found


def test_no_number_is_left_when_all_are_taken() -> None:
    assert free_number(range(1, LAST_NUMBER + 1), 7) is None
    assert free_number(range(1, LAST_NUMBER), 7) == LAST_NUMBER


@given(numbers, numbers)
def test_two_attempts_share_neither_identifier_nor_subnet(one: int, other: int) -> None:
    assert (vni(one) == vni(other)) == (one == other)
    assert subnet(one).overlaps(subnet(other)) == (one == other)
    assert 0 < vni(one) < 1 << 24


@given(numbers, teams)
def test_every_name_leads_to_its_member_on_every_machine(number: int, team: list[int]) -> None:
    """The names are the same everywhere; the address of each is on its own machine, and all others send it there."""
    overlay, nodes = over(number, team)
    made = plans(number, team)
    for rank, node in enumerate(nodes):
        gang = Gang(GROUP, rank, nodes, overlay)
        lines = dict(reversed(line.split()) for line in gang_network.names(gang).splitlines())
        assert list(lines) == [f"m{each}" for each in range(len(nodes))]
        for other, name in enumerate(lines):
            home = made[nodes[other]]
            assert lines[name] in home.members
            ways = [peer for peer in made[node].peers if lines[name] in peer.members]
            assert [(way.machine, way.mac) for way in ways] == (
                [] if home is made[node] else [(home.machine, home.mac)]
            )


@given(numbers, teams)
def test_a_machine_sends_to_the_others_of_the_gang_and_to_nobody_else(number: int, team: list[int]) -> None:
    for node, made in plans(number, team).items():
        assert {peer.machine for peer in made.peers} == {f"198.18.0.{each + 1}" for each in team} - {made.machine}
        assert made.machine == f"198.18.0.{int(node.removeprefix('node-')) + 1}"
        everybody = [*made.members, *(member for peer in made.peers for member in peer.members)]
        assert sorted(everybody, key=ip_address) == [member_address(number, rank) for rank in range(len(team))]
        assert all(ip_address(member) in subnet(number) for member in everybody)
        macs = [made.mac, *(peer.mac for peer in made.peers)]
        assert len(set(macs)) == len(macs)
        assert all(int(mac[:2], 16) & 3 == 2 for mac in macs), "unicast, locally administered"


@given(numbers, teams)
def test_what_is_planned_has_no_problem(number: int, team: list[int]) -> None:
    overlay, nodes = over(number, team)
    assert overlay.problem(nodes) == ""


@pytest.mark.parametrize(
    "overlay",
    [
        Overlay(0, ("198.18.0.1", "198.18.0.2")),
        Overlay(LAST_NUMBER + 1, ("198.18.0.1", "198.18.0.2")),
        Overlay(1, ("198.18.0.1",)),
        Overlay(1, ("198.18.0.1", "198.18.0.1")),
        Overlay(1, ("198.18.0.1", "fd00::1")),
        Overlay(1, ("198.18.0.1", "127.0.0.1")),
        Overlay(1, ("198.18.0.1", "0.0.0.0")),
        Overlay(1, ("198.18.0.1", "239.1.1.1")),
        Overlay(1, ("198.18.0.1", "198.18.0.2 remote 1.2.3.4")),
        Overlay(1, ("198.18.0.1", "fe80::1%eth0")),
    ],
)
def test_a_network_that_cannot_be_is_refused(overlay: Overlay) -> None:
    assert overlay.problem(("one", "two"))


def test_one_machine_has_one_address() -> None:
    assert Overlay(1, ("198.18.0.1", "198.18.0.2")).problem(("one", "one"))


def test_packets_over_ipv6_have_longer_heads() -> None:
    four = plan(Overlay(1, ("198.18.0.1", "198.18.0.2")), ("one", "two"), "one")
    six = plan(Overlay(1, ("fd00::1", "fd00::2")), ("one", "two"), "one")
    assert (four.overhead, six.overhead) == (50, 70)


def test_what_a_machine_can_do_is_read_as_it_was_sent() -> None:
    found = Ability(frozenset({Kind.VXLAN}), "198.18.0.1", (Said(Code.WIREGUARD_MISSING),))
    assert Ability.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert found.joins
    assert not Ability(frozenset({Kind.VXLAN})).joins, "nobody could send to it"
    assert not Ability(frozenset({Kind.WIREGUARD}), "198.18.0.1").joins


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {"kinds": "vxlan", "address": "here", "said": []},
        {"kinds": 3, "address": "", "said": []},
        {"kinds": ["vxlan"], "address": "127.0.0.1", "said": []},
        {"kinds": ["vxlan"], "address": {"a": 1}, "said": []},
        {"kinds": ["vxlan"], "address": "198.18.0.1"},
    ],
)
def test_a_machine_that_tells_nothing_sensible_can_do_nothing(told: object) -> None:
    assert Ability.from_json(told) == Ability()


def test_a_kind_of_later_is_passed_over() -> None:
    told = {"kinds": ["vxlan", "geneve"], "address": "198.18.0.1", "said": []}
    assert Ability.from_json(told).kinds == {Kind.VXLAN}
