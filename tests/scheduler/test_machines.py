"""The cells under any sequence of placements, departures and attempts, checked after every step."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from scheduler import Gang, Running, Snapshot, Task, mix_of
from scheduler.allocator import Allocator
from scheduler.cells import Cells, Claim
from scheduler.columns import Column, RequestClass
from scheduler.demand import demand_of
from scheduler.gangs import GangPlacer
from scheduler.host import host_of
from scheduler.mig import profile_named, span
from scheduler.scorers import ByPotential
from tests.scheduler.ledger import check_capacity
from tests.scheduler.test_cells import picture
from tests.scheduler.worlds import mig_worlds, snapshots
from tests.searching import examples

brief = settings(deadline=None, derandomize=True, max_examples=examples(25), stateful_step_count=20)


class CellsMachine(RuleBasedStateMachine):
    """Members come and go one by one, in gangs, or on trial. Nothing may be lost, doubled or forgotten."""

    held = Bundle("held")

    def start(self, world: Snapshot, longest_log: int | None = None) -> None:
        self.world = replace(world, waiting=tuple(replace(t, gang=None) for t in world.waiting))
        self.cells = Cells(world.nodes, longest_log)
        self.mix = mix_of(world.waiting)
        self.allocator = Allocator(self.cells, ByPotential(self.cells, self.mix), self.mix)
        self.empty = picture(self.cells)
        self.live: list[tuple[Task, Claim]] = []

    @rule(target=held, choice=st.integers(0, 99))
    def place(self, choice: int) -> Any:
        task = self.world.waiting[choice % len(self.world.waiting)]
        claim = self.allocator.best_claim(demand_of(task), task.organisation)
        if claim is None:
            return multiple()
        self.allocator.commit(claim)
        self.live.append((task, claim))
        return multiple((task, claim))

    @rule(target=held, choice=st.integers(0, 99), size=st.integers(2, 5), least=st.integers(1, 2))
    def place_gang(self, choice: int, size: int, least: int) -> Any:
        task, before = self.world.waiting[choice % len(self.world.waiting)], picture(self.cells)
        claims = GangPlacer(self.allocator).place(task, Gang(size, least), demand_of(task), None)
        if claims is None:
            assert picture(self.cells) == before
            return multiple()
        assert least <= len(claims) <= size
        members = [(task, claim) for claim in claims]
        self.live += members
        return multiple(*members)

    @rule(choices=st.lists(st.integers(0, 99), max_size=4))
    def try_and_take_back(self, choices: list[int]) -> None:
        before, tried = picture(self.cells), list[Claim]()
        for choice in choices:
            task = self.world.waiting[choice % len(self.world.waiting)]
            claim = self.allocator.best_claim(demand_of(task), task.organisation)
            if claim is not None:
                self.allocator.commit(claim)
                tried.append(claim)
        self.allocator.undo(tried)
        assert picture(self.cells) == before

    @rule(member=consumes(held))
    def leave(self, member: tuple[Task, Claim]) -> None:
        self.cells.give_back(member[1])
        self.live.remove(member)

    @invariant()
    def nothing_is_handed_out_twice_and_each_card_has_one_mode(self) -> None:
        nodes = self.cells.nodes
        running = tuple(Running(t, f"m{i}", nodes[c.row].id, c.slices, 0.0) for i, (t, c) in enumerate(self.live))
        check_capacity(self.world, running)

    @invariant()
    def the_arrays_are_what_the_members_leave(self) -> None:
        fresh = Cells(self.cells.nodes)
        for _, claim in self.live:
            fresh.take(claim)
        assert picture(self.cells)[:-1] == picture(fresh)[:-1]
        assert (self.cells.tenants > 0).tolist() == (self.cells.owner >= 0).tolist()

    @invariant()
    def masks_hold_the_partitions_and_nothing_else(self) -> None:
        masks = np.zeros_like(self.cells.mask)
        for _, claim in self.live:
            for piece in claim.slices:
                column = self.cells.column_of[claim.row][piece.device_id]
                profile = profile_named(self.cells.cards[claim.row][column], piece.mig_profile)
                if profile is not None and piece.mig_start is not None:
                    here = span(piece.mig_start, profile.size)
                    assert piece.mig_start in profile.starts
                    assert not masks[claim.row, column] & here
                    masks[claim.row, column] |= here
        assert masks.tolist() == self.cells.mask.tolist()

    @invariant()
    def cached_columns_equal_fresh_ones(self) -> None:
        scorer = ByPotential(self.cells, self.mix)
        for task in self.world.waiting:
            cached = self.allocator.column(demand_of(task))
            fresh = Column(RequestClass(self.cells, demand_of(task), self.allocator.profiles), scorer)
            assert cached.score.tolist() == fresh.score.tolist()
            fits = fresh.score >= 0
            assert cached.pick[fits].tolist() == fresh.pick[fits].tolist()

    @invariant()
    def what_fits_on_a_node_fits_by_the_arrays(self) -> None:
        for task in self.world.waiting:
            column = self.allocator.column(demand_of(task))
            for row in np.flatnonzero(column.kind.allowed).tolist():
                assert (column.score[row] >= 0) == (host_of(self.cells, row).fits(column.kind.demand) is not None)

    def teardown(self) -> None:
        if hasattr(self, "live"):
            for _, claim in self.live:
                self.cells.give_back(claim)
            assert picture(self.cells) == self.empty


class AnyCards(CellsMachine):
    """Every mode; now and then with a log so short that it starts anew all the time."""

    @initialize(world=snapshots(most_nodes=4, most_tasks=6), longest_log=st.sampled_from([None, 3]))
    def load(self, world: Snapshot, longest_log: int | None) -> None:
        self.start(world, longest_log)


class MigCards(CellsMachine):
    """Cards in MIG mode alone, of every geometry and of a discovered one."""

    @initialize(world=mig_worlds())
    def load(self, world: Snapshot) -> None:
        self.start(world)


TestAnyCards = AnyCards.TestCase
TestAnyCards.settings = brief
TestMigCards = MigCards.TestCase
TestMigCards.settings = brief
