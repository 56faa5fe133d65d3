"""The arrays: conservation, caches that equal a full computation, and agreement with the one-node model."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Device, Gang, GpuRequest, Mode, Node, Snapshot, Task, mix_of
from scheduler.allocator import Allocator
from scheduler.cells import Cells, Claim
from scheduler.columns import Column, RequestClass
from scheduler.demand import demand_of
from scheduler.gangs import GangPlacer
from scheduler.host import host_of
from scheduler.scorers import ByPotential
from tests.scheduler.worlds import snapshots, steady


def allocator_for(world: Snapshot) -> Allocator:
    cells = Cells(world.nodes)
    return Allocator(cells, ByPotential(cells, mix_of(world.waiting)))


def picture(cells: Cells) -> list[bytes]:
    arrays = (cells.cpu, cells.memory, cells.core, cells.card_memory, cells.tenants, cells.mask, cells.owner)
    return [array.tobytes() for array in arrays]


def churn(allocator: Allocator, world: Snapshot, choices: list[int]) -> list[Claim]:
    """Place and remove tasks in an order that the choices decide."""
    held: list[Claim] = []
    for choice in choices:
        if held and choice % 3 == 0:
            allocator.undo([held.pop(choice % len(held))])
            continue
        task = world.waiting[choice % len(world.waiting)]
        claim = allocator.best_claim(demand_of(task), task.organisation)
        if claim is not None:
            allocator.commit(claim)
            held.append(claim)
    return held


choices = st.lists(st.integers(0, 1000), max_size=25)


@steady
@given(snapshots(), choices)
def test_giving_everything_back_restores_the_bytes(world: Snapshot, order: list[int]) -> None:
    allocator = allocator_for(world)
    before = picture(allocator.cells)
    held = churn(allocator, world, order)
    allocator.undo(held)
    assert picture(allocator.cells) == before


@steady
@given(snapshots(), choices)
def test_cached_columns_equal_a_full_recomputation(world: Snapshot, order: list[int]) -> None:
    allocator = allocator_for(world)
    allocator.warm(demand_of(task) for task in world.waiting)
    churn(allocator, world, order)
    fresh = ByPotential(allocator.cells, mix_of(world.waiting))
    for task in world.waiting:
        cached = allocator.column(demand_of(task))
        again = Column(RequestClass(allocator.cells, demand_of(task)), fresh)
        assert (cached.score == again.score).all()
        open_rows = cached.score >= 0
        assert (cached.pick[open_rows] == again.pick[open_rows]).all()


@steady
@given(snapshots(), choices)
def test_all_nodes_at_once_and_one_node_alone_agree_on_what_fits(world: Snapshot, order: list[int]) -> None:
    allocator = allocator_for(world)
    churn(allocator, world, order)
    cells = allocator.cells
    for task in world.waiting:
        kind = RequestClass(cells, demand_of(task))
        ok, _ = kind.room(np.arange(len(cells)))
        alone = [
            bool(kind.allowed[row]) and host_of(cells, row).fits(kind.demand) is not None for row in range(len(cells))
        ]
        assert ok.tolist() == alone


@steady
@given(snapshots(), choices)
def test_a_gang_that_does_not_fit_leaves_no_trace(world: Snapshot, order: list[int]) -> None:
    allocator = allocator_for(world)
    churn(allocator, world, order)
    for task in world.waiting:
        before = picture(allocator.cells)
        claims = GangPlacer(allocator).place(task, Gang(3), demand_of(task), None)
        if claims is not None:
            assert len(claims) == 3
            allocator.undo(claims)
        assert picture(allocator.cells) == before


def test_a_gang_takes_the_smallest_domain_that_holds_it() -> None:
    def rack(name: str, cards: int, topology: tuple[str, ...]) -> Node:
        made = tuple(Device(f"{name}-{i}", i, "nvidia", "H200", 0) for i in range(cards))
        return Node(name, "east", "main", 64000, 65536, made, topology=topology)

    world = [rack("a1", 2, ("row", "a")), rack("a2", 2, ("row", "a")), rack("b1", 4, ("row", "b"))]
    cells = Cells(world)
    allocator = Allocator(cells, ByPotential(cells, None))
    member = Task("g", "alice-lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, 2))

    def rows(size: int) -> list[str]:
        claims = GangPlacer(allocator).place(member, Gang(size), demand_of(member), None) or []
        allocator.undo(claims)
        return sorted({cells.nodes[claim.row].id for claim in claims})

    assert rows(2) == ["b1"]
    assert rows(3) == ["a1", "a2", "b1"]
    allocator.commit(allocator.claim_at(allocator.column(demand_of(member)), 2, "bob-inc"))
    assert rows(2) == ["a1", "a2"]


def test_a_try_on_a_card_that_another_organisation_shares_leaves_its_owner() -> None:
    card = Device("c0", 0, "nvidia", "A100", 81920, Mode.MIG)
    cells = Cells([Node("n", "east", "main", 64000, 65536, (card,))])
    allocator = Allocator(cells, ByPotential(cells, None), None)

    def partition(organisation: str, profile: str) -> Claim:
        task = Task("t", organisation, "", "u", 3, 0.0, 1000, 1024, GpuRequest(Mode.MIG, profile=profile))
        claim = allocator.best_claim(demand_of(task), organisation)
        assert claim is not None
        allocator.commit(claim)
        return claim

    first = partition("charlie-co", "1g.10gb")
    before = picture(cells)
    tried = [partition("alice-lab", "2g.20gb"), partition("bob-team", "1g.10gb")]
    allocator.undo(tried)
    assert picture(cells) == before
    allocator.undo([first])
    assert (cells.owner < 0).all()
