"""Fragmentation against its definition, written out task kind by task kind, and the rating of changes."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Device, GpuRequest, Mix, MixEntry, Mode, Node, Snapshot, mix_of
from scheduler.cells import Cells
from scheduler.columns import RequestClass
from scheduler.demand import Demand, demand_of, piece_size, serves
from scheduler.fragments import STRANDED_WEIGHT, Potential
from scheduler.losses import MOST_CELLS, LossTable, kinds_of_mix
from scheduler.mix import SCALE, cpu_per_card
from scheduler.scorers import STEPS, _edge, _step_of, first_idle, quantised
from scheduler.types import WHOLE_MILLI
from tests.scheduler.test_cells import allocator_for, choices, churn
from tests.scheduler.worlds import mixes, snapshots, steady


def idle_milli(cells: Cells, row: int, column: int, with_memory: bool) -> float:
    """The larger of what is free of compute and, where the mix asks for memory, of memory."""
    card = cells.cards[row][column]
    if not card.healthy or card.mode not in (Mode.WHOLE, Mode.VGPU):
        return 0
    core, full = int(cells.core[row, column]), max(1, int(cells.full_memory[row, column]))
    memory = int(cells.card_memory[row, column]) * WHOLE_MILLI // full
    return max(core, memory) if with_memory else core


def useful(cells: Cells, row: int, entry: MixEntry, idle: list[float]) -> float:
    """Idle GPU-milli on the cards where the kind fits, 0 when the node has too few of them or too little CPU."""
    gpu = entry.gpu
    assert gpu is not None
    fitting = []
    for column, card in enumerate(cells.cards[row]):
        core, memory = piece_size(card, gpu)
        memory = 0 if gpu.mode is Mode.WHOLE or not gpu.memory_mib else memory
        here = int(cells.core[row, column]) >= core and int(cells.card_memory[row, column]) >= memory
        if card.healthy and serves(card, gpu) and here:
            fitting.append(idle[column])
    enough = len(fitting) >= gpu.count and int(cells.cpu[row]) >= entry.cpu_milli
    return sum(fitting) if enough else 0


def by_definition(cells: Cells, row: int, mix: Mix, weight: float) -> float:
    """F_n(M) + w * stranded, in GPU-milli times SCALE."""
    kinds = [e for e in mix.entries if e.gpu is not None and e.gpu.mode in (Mode.WHOLE, Mode.VGPU)]
    with_memory = any(e.gpu is not None and e.gpu.mode is Mode.VGPU and e.gpu.memory_mib for e in kinds)
    with_memory = with_memory and any(
        card.healthy and serves(card, e.gpu)
        for cards in cells.shapes
        for card in cards
        for e in kinds
        if e.gpu and e.gpu.mode is Mode.VGPU and e.gpu.memory_mib
    )
    idle = [idle_milli(cells, row, column, with_memory) for column in range(len(cells.cards[row]))]
    total = sum(idle) * SCALE - sum(round(e.share * SCALE) * useful(cells, row, e, idle) for e in kinds)
    ratio = cpu_per_card(mix)
    stranded = max(0.0, sum(idle) - int(cells.cpu[row]) * (WHOLE_MILLI / ratio)) if ratio else 0.0
    return float(total + np.rint(stranded * (weight * SCALE)))


@steady
@given(snapshots(), choices, mixes(), st.sampled_from([0.0, STRANDED_WEIGHT]))
def test_the_potential_is_that_of_the_definition(world: Snapshot, order: list[int], mix: Mix, weight: float) -> None:
    allocator = allocator_for(world)
    churn(allocator, world, order)
    cells = allocator.cells
    fast = Potential(cells, mix, weight).at(np.arange(len(cells)))
    assert fast.tolist() == [by_definition(cells, row, mix, weight) for row in range(len(cells))]


@steady
@given(snapshots(), choices, mixes())
def test_a_foretold_change_is_the_change_that_comes(world: Snapshot, order: list[int], mix: Mix) -> None:
    """For every request that fits somewhere: the change on each row equals the potential after less before."""
    allocator = allocator_for(world)
    churn(allocator, world, order)
    potential = Potential(allocator.cells, mix)
    for task in world.waiting:
        column = allocator.column(demand_of(task))
        mode = task.gpu.mode if task.gpu else Mode.WHOLE
        for row in np.flatnonzero(column.score >= 0).tolist():
            rows = np.array([row])
            if mode not in (Mode.WHOLE, Mode.VGPU) or (mode is Mode.VGPU and task.gpu and task.gpu.count > 1):
                continue
            foretold = _foretold(potential, column.kind, rows, int(column.pick[row]))
            before = potential.at(rows)[0]
            claim = allocator.claim_at(column, row, task.organisation)
            allocator.commit(claim)
            assert potential.at(rows)[0] - before == foretold
            allocator.undo([claim])


def _foretold(potential: Potential, kind: RequestClass, rows: np.ndarray, pick: int) -> float:
    view, cpu, cards = potential.cells.view(rows), kind.demand.cpu_milli, kind.cards
    if cards is None:
        return float(potential.after_cpu(view, cpu)[0])
    if cards.gpu.mode is Mode.WHOLE:
        taken = first_idle(cards.fitting_cards(rows), cards.gpu.count)
        return float(potential.after_whole(view, cpu, taken, cards.gpu.count)[0])
    return float(potential.after_share(view, cpu, cards.core, cards.memory)[0, pick])


@steady
@given(st.integers(-(10**13), 10**13))
def test_the_looked_up_steps_are_those_of_the_sigmoid(change: int) -> None:
    exact = np.floor(STEPS / (1.0 + np.exp(np.array([float(change)]) / SCALE / WHOLE_MILLI)))
    assert quantised(np.array([float(change)])).tolist() == exact.tolist()


def test_compute_that_is_left_without_memory_is_all_fragment() -> None:
    card = Device("c", 0, "nvidia", "A100", 80000, Mode.VGPU)
    wants = GpuRequest(Mode.VGPU, 1, None, 250, 20000)
    cells = Cells([Node("n", "z", "c", 64000, 65536, (card,))])
    potential = Potential(cells, Mix((MixEntry(1000, wants, 1.0),)), stranded_weight=0.0)
    assert potential.at(np.array([0])).tolist() == [0]
    cells.core[0, 0], cells.card_memory[0, 0] = 900, 10000
    assert potential.at(np.array([0])).tolist() == [900 * SCALE]
    cells.core[0, 0], cells.card_memory[0, 0] = 100, 40000
    assert potential.at(np.array([0])).tolist() == [500 * SCALE]


def test_a_template_counts_with_its_own_size() -> None:
    card = Device("c", 0, "huawei", "Ascend910B3", 65536, Mode.VGPU)
    wants = GpuRequest(Mode.VGPU, 1, None, 1, 0, "vir10_3c_32g")
    cells = Cells([Node("n", "z", "c", 64000, 65536, (card,))])
    potential = Potential(cells, Mix((MixEntry(1000, wants, 1.0),)), stranded_weight=0.0)
    cells.core[0, 0], cells.card_memory[0, 0] = 400, 30000
    assert potential.at(np.array([0])).tolist() == [457 * SCALE]


def test_a_card_without_cpu_for_it_counts_as_stranded_on_top() -> None:
    cells = Cells([Node("n", "z", "c", 0, 65536, (Device("c", 0, "nvidia", "A100", 80000),))])
    mix = Mix((MixEntry(1000, GpuRequest(Mode.WHOLE), 1.0),))
    assert Potential(cells, mix).at(np.array([0])).tolist() == [1600 * SCALE]
    assert Potential(cells, mix, stranded_weight=0.0).at(np.array([0])).tolist() == [1000 * SCALE]


def test_a_mix_of_too_many_sizes_keeps_the_most_frequent() -> None:
    card = Device("c", 0, "nvidia", "A100", 80000, Mode.VGPU)
    cells = Cells([Node("n", "z", "c", 64000, 65536, (card,))])
    entries = tuple(
        MixEntry(1000 + i, GpuRequest(Mode.VGPU, 1, None, 1 + i, 1 + i), 2 * (i + 1) / (600 * 601)) for i in range(600)
    )
    kinds = kinds_of_mix(cells, Mix(entries))
    assert 50 < len(kinds) < 600
    assert min(kind.weight for kind in kinds) > round(entries[600 - len(kinds) - 1].share * SCALE)
    assert LossTable(cells, kinds).size <= MOST_CELLS


def test_a_demand_of_the_mix_in_a_node_without_cards_changes_nothing() -> None:
    cells = Cells([Node("n", "z", "c", 64000, 65536)])
    potential = Potential(cells, mix_of([]))
    kind = RequestClass(cells, Demand(1000, 0))
    assert potential.after_cpu(cells.view(np.array([0])), kind.demand.cpu_milli).tolist() == [0]
    assert replace(kind.demand, cpu_milli=0).cards == 0


def test_what_cards_lack_of_cores_is_counted_node_by_node() -> None:
    cards = tuple(Device(f"c{i}", i, "nvidia", "A100", 81920) for i in range(3))
    cells = Cells([Node("poor", "z", "c", 1000, 65536, cards), Node("rich", "z", "c", 64000, 65536, cards[:1])])
    mix = Mix((MixEntry(8000, GpuRequest(Mode.WHOLE), 1.0),))
    found = Potential(cells, mix).at(np.arange(2)).tolist()
    assert found == [by_definition(cells, row, mix, STRANDED_WEIGHT) for row in range(2)]
    assert found[0] > found[1] == 0.0


def test_the_steps_of_the_rating_are_where_the_formula_has_them() -> None:
    for step in range(STEPS, 0, -1):
        edge = _edge(step)
        assert _step_of(edge) >= step > _step_of(edge + 1)
        assert quantised(np.array([edge, edge + 1])).tolist() == [step, step - 1]
    assert (_step_of(-SCALE * WHOLE_MILLI * 100), _step_of(0), _step_of(SCALE * WHOLE_MILLI * 100)) == (STEPS, 50, 0)
