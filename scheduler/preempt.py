"""Who gives way: the cheapest set of victims that lets a task start, whole gangs, none of them needless.

A victim is pre-emptible and strictly lower in priority in the same organisation; or it belongs to an organisation that
keeps its guarantee without it, while the task's organisation stays inside its own. Both orders are strict: none swings
back and forth. Cost, in this order: highest victim priority, GPU-seconds since the last checkpoint, gangs broken,
count. Greedy by cost per useful resource, then pruned backwards; exact for up to EXACT_VICTIMS candidates on a node.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from scheduler.candidates import Candidates, Floor
from scheduler.cells import Bools, Cells, Claim, Ints
from scheduler.columns import RequestClass
from scheduler.demand import Demand, least_members, serves
from scheduler.host import Host, host_of
from scheduler.roster import Member
from scheduler.shares import Shares, asked_by
from scheduler.timeline import Future
from scheduler.types import Task
from scheduler.victims import Cost, Eviction, Victim, bundle_of, by_cost, cost_of, go, prune

EXACT_VICTIMS = 12
EXACT_ROWS = 8
SEARCH_ROWS = 256


class Preemptor:
    """Finds victims among the members that ran before the pass. Reads shares and the future, changes nothing."""

    def __init__(
        self,
        cells: Cells,
        future: Future,
        shares: Shares,
        now: float,
        checkpoints: Mapping[str, float],
        *,
        firm: bool = True,
    ) -> None:
        """`firm`: what is not pre-emptible is never asked, even beyond its organisation's guarantee."""
        self.cells, self.future, self.shares, self.now = cells, future, shares, now
        self.roster, self.checkpoints, self.firm = future.roster, checkpoints, firm
        self._victims: dict[str, Victim] = {}
        self._candidates: Candidates | None = None

    def anybody(self) -> bool:
        """Whether anybody at all might be asked."""
        return any(self.roster.yielding.values()) or (not self.firm and any(self.roster.firm.values()))

    def victim(self, task_id: str) -> Victim | None:
        """The task as a victim, when it may be asked at all: not firm, past its minimum run time, not leaving."""
        members = self.roster.of_task.get(task_id)
        if members is None or not self._may_be_asked(members):
            return None
        if task_id not in self._victims:
            lost = self._lost(members, self.checkpoints.get(task_id))
            bundle = members[0].bundle if len(members) == 1 else bundle_of(members)
            self._victims[task_id] = Victim(members[0].task, tuple(members), lost, bundle)
        return self._victims[task_id]

    def _may_be_asked(self, members: Sequence[Member]) -> bool:
        """Asked of everybody that runs, in every pass: the cheap questions first."""
        task = members[0].task
        if (self.firm and not task.preemptible) or not self.roster.ran_before(task.id):
            return False
        least = task.min_runtime_s
        return all(self.now - member.started_at >= least and not member.leaving for member in members)

    def _lost(self, members: Sequence[Member], checkpoint: float | None) -> float:
        """GPU-seconds of work since the last checkpoint."""
        total = 0.0
        for member in members:
            since = max(member.started_at, checkpoint if checkpoint is not None else member.started_at)
            total += member.gpu_milli / 1000 * max(0.0, self.now - since)
        return total

    def may(self, task: Task, victim: Victim) -> bool:
        """Whether the task may take the victim's place."""
        if task.organisation == victim.task.organisation:
            return victim.task.preemptible and victim.task.priority < task.priority
        return self._may_reclaim(task) and self._spared(victim.task.organisation, [victim])

    def _spared(self, organisation: str, victims: Sequence[Victim]) -> bool:
        """Whether the organisation keeps its guarantee when these of its tasks are gone."""
        if not self.shares.promised(organisation):
            return True
        gone = bundle_of(m for victim in victims if victim.task.organisation == organisation for m in victim.members)
        return self.shares.above_guarantee(organisation, gone)

    def lawful(self, task: Task, victims: Sequence[Victim]) -> bool:
        """Whether these victims together leave every other organisation its guarantee."""
        others = {v.task.organisation for v in victims} - {task.organisation}
        return all(self._spared(organisation, victims) for organisation in others)

    def find(self, task: Task, kind: RequestClass, least: int) -> Eviction | None:
        """The cheapest eviction that makes room for `least` members, or None."""
        may = self._all().lawful(task, self._may_reclaim(task))
        if not may.any():
            return None
        return self._single(task, kind, may) if least == 1 else self._several(task, kind, may, least)

    def asked(self, victims: Sequence[Victim]) -> None:
        """These have been asked to go, and are not asked again."""
        self._all().strike(victims)

    def _all(self) -> Candidates:
        """Everybody who may be asked at all: nobody comes to them in a pass."""
        if self._candidates is None:
            books = (self.roster.yielding,) if self.firm else (self.roster.yielding, self.roster.firm)
            asked = (task_id for book in books for tasks in book.values() for task_id in tasks)
            everybody = (self.victim(task_id) for task_id in asked)
            able = [victim for victim in everybody if victim is not None]
            self._candidates = Candidates(self.shares, len(self.cells), able)
        return self._candidates

    def _may_reclaim(self, task: Task) -> bool:
        """Whether the task would still be inside its organisation's guarantee."""
        return self.shares.within_guarantee(task.organisation, asked_by(task, least_members(task)))

    def _single(self, task: Task, kind: RequestClass, may: Bools) -> Eviction | None:
        """Rows where it cannot cost much first, up to SEARCH_ROWS that can make room; until the next is too dear."""
        found: list[Eviction] = []
        everybody = self._all()
        for priority, lost, row in everybody.floors(may, self._short(kind)):
            if len(found) >= SEARCH_ROWS or (found and found[0].cost <= (priority, lost)):
                break
            eviction = self._greedy(task, kind, row, everybody.on_row(row, may), ())
            if eviction is not None:
                insort(found, eviction, key=by_cost)
        first = [(eviction, everybody.on_row(eviction.claims[0].row, may)) for eviction in found[:EXACT_ROWS]]
        exact = [self._exact(task, kind.demand, eviction, here) for eviction, here in first]
        return min([*exact, *found[EXACT_ROWS:]], key=by_cost, default=None)

    def _short(self, kind: RequestClass) -> Ints:
        """[N]: how many cards somebody must leave before one member fits; 0 where that is hard to say."""
        if kind.cards is None:
            return np.zeros(len(self.cells), np.int64)
        rows = np.arange(len(self.cells))
        short = kind.cards.gpu.count - np.add.reduce(kind.cards.free(rows), axis=1, dtype=np.int64)
        short[[member.claim.row for member in self.roster.leaving()]] = 0
        return np.asarray(np.maximum(short, 0))

    def _several(self, task: Task, kind: RequestClass, may: Bools, least: int) -> Eviction | None:
        """Members one after the other, each on the row where it costs least more."""
        victims: list[Victim] = []
        claims: list[Claim] = []
        floors, open_rows = self._all().floors(may, self._short(kind)), self._open_rows(kind)
        while len(claims) < least:
            best: Eviction | None = None
            for bound, row in _bounds(floors, open_rows, victims):
                if best is not None and by_cost(best) <= (bound, row):
                    break
                option = self._greedy(task, kind, row, self._all().on_row(row, may), victims, claims)
                best = option if best is None else best if option is None else min(best, option, key=by_cost)
            if best is None:
                return None
            victims, claims = list(best.victims), [*claims, *best.claims]
        return Eviction(tuple(victims), tuple(claims)) if victims and self.lawful(task, victims) else None

    def _open_rows(self, kind: RequestClass) -> set[int]:
        rows = np.arange(len(self.cells))
        return set(np.flatnonzero(kind.room(rows)[0]).tolist())

    def _greedy(
        self,
        task: Task,
        kind: RequestClass,
        row: int,
        here: list[Victim],
        gone: Sequence[Victim],
        taken: Sequence[Claim] = (),
    ) -> Eviction | None:
        """One more member on this row, on top of victims and claims chosen before."""
        others = (kept for kept in self.future.on_row(row) if kept.task.id != task.id)
        ahead = (kept for kept in others if not self.future.gives_way(kept, task))
        if not kind.allowed[row] or any(kept.start_p50 > self.now for kept in ahead):
            return None
        host, chosen = self._host(row, gone, taken), list[Victim]()
        useful = {v.task.id: self._useful(v, row, kind) for v in here}
        order = sorted(here, key=lambda v: (v.task.priority, v.lost_gpu_s / useful[v.task.id], v.task.id))
        for victim in (v for v in order if v not in gone):
            if host.fits(kind.demand) is not None:
                break
            go(host, victim)
            chosen.append(victim)
        if host.fits(kind.demand) is None:
            return None
        prune(host, kind.demand, chosen)
        claim, victims = host.fits(kind.demand), (*gone, *chosen)
        return Eviction(victims, (claim,)) if claim is not None and self.lawful(task, victims) else None

    def _useful(self, victim: Victim, row: int, kind: RequestClass) -> float:
        """How much of what the task needs the victim would free on the row; more than 0."""
        freed = 1.0
        columns, cards = self.cells.column_of[row], self.cells.cards[row]
        for member in victim.members:
            if member.claim.row == row:
                freed += member.claim.cpu_milli / 1000
                for piece in member.claim.slices:
                    column = columns.get(piece.device_id)
                    if column is not None and kind.demand.gpu and serves(cards[column], kind.demand.gpu):
                        freed += piece.core_milli
        return freed

    def _fit(self, demand: Demand, row: int, gone: Sequence[Victim], taken: Sequence[Claim]) -> Claim | None:
        return self._host(row, gone, taken).fits(demand)

    def _host(self, row: int, gone: Sequence[Victim], taken: Sequence[Claim]) -> Host:
        """The row once these victims have left and these claims are in place, past evictions carried out."""
        host = host_of(self.cells, row)
        for member in self.future.members_on(row):
            if member.leaving:
                host.give_back(member.claim)
        for kept in self.future.on_row(row):
            if kept.start_p50 <= self.now:
                kept.put_on(host)
        for victim in gone:
            go(host, victim)
        for claim in taken:
            if claim.row == row:
                host.take(claim)
        return host

    def _exact(self, task: Task, demand: Demand, greedy: Eviction, here: list[Victim]) -> Eviction:
        """The cheapest set on this row where there are few enough candidates to try them all."""
        if len(here) > EXACT_VICTIMS:
            return greedy
        row, best = greedy.claims[0].row, greedy
        for size in range(1, len(here) + 1):
            for victims in combinations(here, size):
                if cost_of(victims) < best.cost and self.lawful(task, victims):
                    claim = self._fit(demand, row, victims, ())
                    if claim is not None:
                        best = Eviction(victims, (claim,))
        return best


def _bounds(floors: Sequence[Floor], open_rows: set[int], gone: Sequence[Victim]) -> Iterator[tuple[Cost, int]]:
    """What one more member costs at least, together with those who go anyway, by row; the least first."""
    so_far = cost_of(gone)
    ready = open_rows | {row for victim in gone for row in victim.rows}
    yield from ((so_far, row) for row in sorted(ready))
    others = [(max(so_far[0], priority), so_far[1] + lost, row) for priority, lost, row in floors if row not in ready]
    yield from (((priority, lost, 0, 0), row) for priority, lost, row in sorted(others))
