"""Choose the victims of pre-emption: the cheapest set that lets a task start, in whole gangs, none needless.

A victim is pre-emptible and strictly lower in priority in the same organisation; or it belongs to an organisation that
keeps its guarantee without it, while the task's organisation stays inside its own. Both orders are strict, so no two
tasks displace each other in turn. Cost, in this order: highest victim priority, GPU-seconds since the last checkpoint,
gangs broken, count. Greedy by cost per useful resource, then pruned backwards; exact for up to EXACT_VICTIMS candidates
on a node.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import combinations

import numpy as np

from scheduler.candidates import Candidates, CostFloor, VictimTable, cost_bounds
from scheduler.cells import Bools, Cells, Claim, Ints
from scheduler.columns import RequestClass
from scheduler.demand import Demand, least_members, serves
from scheduler.host import Host, host_of
from scheduler.roster import Member
from scheduler.shares import Shares, bundle_of_request
from scheduler.timeline import Timeline
from scheduler.types import Task
from scheduler.victims import Eviction, Victim, bundle_of_members, by_cost, cost_of, prune, remove_victim

EXACT_VICTIMS = 12
EXACT_ROWS = 8
SEARCH_ROWS = 256


class Preemptor:
    """Finds victims among the members that ran before the pass. Reads shares and the future, changes nothing."""

    def __init__(
        self,
        cells: Cells,
        timeline: Timeline,
        shares: Shares,
        now: float,
        checkpoints: Mapping[str, float],
        *,
        firm: bool = True,
    ) -> None:
        """`firm`: tasks that are not pre-emptible are never asked, even beyond their organisation's guarantee."""
        self.cells, self.timeline, self.shares, self.now = cells, timeline, shares, now
        self.roster, self.checkpoints, self.firm = timeline.roster, checkpoints, firm
        self._victims: dict[str, Victim] = {}
        self._candidates: Candidates | None = None

    def has_candidates(self) -> bool:
        """Whether there may be any victim at all."""
        return any(self.roster.preemptible.values()) or (not self.firm and any(self.roster.non_preemptible.values()))

    def victim(self, task_id: str) -> Victim | None:
        """The task as a victim; None if it may not be asked: firm, within its minimum run time, or leaving."""
        members = self.roster.of_task.get(task_id)
        if members is None or not self._may_be_asked(members):
            return None
        if task_id not in self._victims:
            lost = self._lost(members, self.checkpoints.get(task_id))
            bundle = members[0].bundle if len(members) == 1 else bundle_of_members(members)
            self._victims[task_id] = Victim(members[0].task, tuple(members), lost, bundle)
        return self._victims[task_id]

    def _may_be_asked(self, members: Sequence[Member]) -> bool:
        """Called for every running task in every pass, so the cheap checks come first."""
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

    def may_replace(self, task: Task, victim: Victim) -> bool:
        """Whether the task may take the victim's place."""
        if task.organisation == victim.task.organisation:
            return victim.task.preemptible and victim.task.priority < task.priority
        return self._may_reclaim(task) and self._keeps_guarantee(victim.task.organisation, [victim])

    def _keeps_guarantee(self, organisation: str, victims: Sequence[Victim]) -> bool:
        """Whether the organisation keeps its guarantee without these victims."""
        if not self.shares.is_guaranteed(organisation):
            return True
        gone = bundle_of_members(
            m for victim in victims if victim.task.organisation == organisation for m in victim.members
        )
        return self.shares.above_guarantee(organisation, gone)

    def keep_guarantees(self, task: Task, victims: Sequence[Victim]) -> bool:
        """Whether these victims together leave every other organisation its guarantee."""
        others = {v.task.organisation for v in victims} - {task.organisation}
        return all(self._keeps_guarantee(organisation, victims) for organisation in others)

    def find(self, task: Task, kind: RequestClass, least: int) -> Eviction | None:
        """The cheapest eviction that makes room for `least` members, or None."""
        may = self._all_candidates().replaceable_by(task, self._may_reclaim(task))
        if not may.any():
            return None
        if least == 1:
            return self._for_one_member(task, kind, may)
        return self._for_gang(task, kind, may, least)

    def undone(self) -> AbstractContextManager[None]:
        """Let those who are asked to leave in the block be asked again."""
        return self._all_candidates().undone() if self._candidates is not None else self._forgotten()

    @contextmanager
    def _forgotten(self) -> Iterator[None]:
        yield
        self._candidates = None

    def mark_asked(self, victims: Sequence[Victim]) -> None:
        """Record that these victims have been asked to leave, so that they are not asked again."""
        self._all_candidates().remove(victims)

    def _all_candidates(self) -> Candidates:
        """All possible victims, built once: none is added during a pass."""
        if self._candidates is None:
            table = self.roster.kept("victims", (self.now, self.firm), self._victim_table)
            self._candidates = Candidates(self.shares, len(self.cells), table)
        return self._candidates

    def _victim_table(self) -> VictimTable:
        """Nobody has been asked in this pass yet, and who started in it is no victim: as when the pass began."""
        books = (self.roster.preemptible,) if self.firm else (self.roster.preemptible, self.roster.non_preemptible)
        asked = (task_id for book in books for tasks in book.values() for task_id in tasks)
        everybody = (self.victim(task_id) for task_id in asked)
        return VictimTable(victim for victim in everybody if victim is not None)

    def _may_reclaim(self, task: Task) -> bool:
        """Whether the task would still be inside its organisation's guarantee."""
        return self.shares.within_guarantee(task.organisation, bundle_of_request(task, least_members(task)))

    def _for_one_member(self, task: Task, kind: RequestClass, may: Bools) -> Eviction | None:
        """Try rows by their lower bound of cost, up to SEARCH_ROWS evictions; stop when the next bound is too high."""
        found: list[Eviction] = []
        everybody = self._all_candidates()
        for priority, lost, row in everybody.cost_floors(may, self._cards_short(kind)):
            if len(found) >= SEARCH_ROWS or (found and found[0].cost <= (priority, lost)):
                break
            eviction = self._greedy(task, kind, row, everybody.on_row(row, may), ())
            if eviction is not None:
                insort(found, eviction, key=by_cost)
        first = [(eviction, everybody.on_row(eviction.claims[0].row, may)) for eviction in found[:EXACT_ROWS]]
        exact = [self._exact(task, kind.demand, eviction, here) for eviction, here in first]
        return min([*exact, *found[EXACT_ROWS:]], key=by_cost, default=None)

    def _cards_short(self, kind: RequestClass) -> Ints:
        """[N]: a lower bound of the cards to free before one member fits; 0 on rows that members are leaving."""
        if kind.cards is None:
            return np.zeros(len(self.cells), np.int64)
        rows = np.arange(len(self.cells))
        short = kind.cards.gpu.count - np.add.reduce(kind.cards.fitting_cards(rows), axis=1, dtype=np.int64)
        short[[member.claim.row for member in self.roster.leaving()]] = 0
        return np.asarray(np.maximum(short, 0))

    def _for_gang(self, task: Task, kind: RequestClass, may: Bools, least: int) -> Eviction | None:
        """In the domain where it costs least: members in two domains would not reach each other."""
        floors = self._all_candidates().cost_floors(may, self._cards_short(kind))
        wide = self.cells.domains_for(kind.demand).widest
        several = np.bincount(wide) > (len(wide) if kind.demand.one_node else 1)
        alone = [floor for floor in floors if not several[wide[floor[2]]]]
        found = [self._on_one_node(task, kind, may, least, alone)]
        for domain in sorted({int(wide[row]) for _, _, row in floors if several[wide[row]]}):
            here = [floor for floor in floors if wide[floor[2]] == domain]
            found.append(self._on_several_nodes(task, kind, may, least, here))
        return min((eviction for eviction in found if eviction is not None), key=by_cost, default=None)

    def _on_several_nodes(
        self, task: Task, kind: RequestClass, may: Bools, least: int, floors: Sequence[CostFloor]
    ) -> Eviction | None:
        """Place members one by one, each on the row of the floors' domain with the least additional cost."""
        victims: list[Victim] = []
        claims: list[Claim] = []
        wide = self.cells.domains_for(kind.demand).widest
        domain = np.flatnonzero(wide == wide[floors[0][2]])
        open_rows, inside = self._open_rows(kind, domain), set(domain.tolist())
        while len(claims) < least:
            best: Eviction | None = None
            for bound, row in cost_bounds(floors, open_rows, victims, inside):
                if best is not None and by_cost(best) <= (bound, row):
                    break
                option = self._greedy(task, kind, row, self._all_candidates().on_row(row, may), victims, claims)
                best = option if best is None else best if option is None else min(best, option, key=by_cost)
            if best is None:
                return None
            victims, claims = list(best.victims), [*claims, *best.claims]
        return Eviction(tuple(victims), tuple(claims)) if victims and self.keep_guarantees(task, victims) else None

    def _on_one_node(
        self, task: Task, kind: RequestClass, may: Bools, least: int, floors: Sequence[CostFloor]
    ) -> Eviction | None:
        """All members on one row: the cheapest of up to SEARCH_ROWS rows that can make room."""
        found: list[Eviction] = []
        for priority, lost, row in floors:
            if len(found) >= SEARCH_ROWS or (found and min(each.cost for each in found) <= (priority, lost)):
                break
            eviction = self._gang_on_row(task, kind, row, self._all_candidates().on_row(row, may), least)
            if eviction is not None and eviction.victims:
                found.append(eviction)
        return min(found, key=by_cost, default=None)

    def _gang_on_row(self, task: Task, kind: RequestClass, row: int, here: list[Victim], least: int) -> Eviction | None:
        victims, claims = tuple[Victim, ...](), tuple[Claim, ...]()
        while len(claims) < least:
            more = self._greedy(task, kind, row, here, victims, claims)
            if more is None:
                return None
            victims, claims = more.victims, (*claims, *more.claims)
        return Eviction(victims, claims)

    def _open_rows(self, kind: RequestClass, rows: Ints) -> set[int]:
        return set(rows[kind.room(rows)[0]].tolist())

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
        others = (reservation for reservation in self.timeline.on_row(row) if reservation.task.id != task.id)
        ahead = (reservation for reservation in others if not self.timeline.gives_way(reservation, task))
        if not kind.allowed[row] or any(reservation.start_p50 > self.now for reservation in ahead):
            return None
        host, chosen = self._host_without(row, gone, taken), list[Victim]()
        useful = {v.task.id: self._useful(v, row, kind) for v in here}
        order = sorted(here, key=lambda v: (v.task.priority, v.lost_gpu_s / useful[v.task.id], v.task.id))
        for victim in (v for v in order if v not in gone):
            if host.fits(kind.demand) is not None:
                break
            remove_victim(host, victim)
            chosen.append(victim)
        if host.fits(kind.demand) is None:
            return None
        prune(host, kind.demand, chosen)
        claim, victims = host.fits(kind.demand), (*gone, *chosen)
        return Eviction(victims, (claim,)) if claim is not None and self.keep_guarantees(task, victims) else None

    def _useful(self, victim: Victim, row: int, kind: RequestClass) -> float:
        """The useful capacity that the victim would free on the row, as a weight; more than 0."""
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

    def _claim_without(self, demand: Demand, row: int, gone: Sequence[Victim], taken: Sequence[Claim]) -> Claim | None:
        return self._host_without(row, gone, taken).fits(demand)

    def _host_without(self, row: int, gone: Sequence[Victim], taken: Sequence[Claim]) -> Host:
        """The row without these victims and leaving members, with these claims and the reservations that are due."""
        host = host_of(self.cells, row)
        for member in self.timeline.members_on(row):
            if member.leaving:
                host.give_back(member.claim)
        for reservation in self.timeline.on_row(row):
            if reservation.start_p50 <= self.now:
                reservation.take_from(host)
        for victim in gone:
            remove_victim(host, victim)
        for claim in taken:
            if claim.row == row:
                host.take(claim)
        return host

    def _exact(self, task: Task, demand: Demand, greedy: Eviction, here: list[Victim]) -> Eviction:
        """The cheapest set on this row, by trying all sets if there are at most EXACT_VICTIMS candidates."""
        if len(here) > EXACT_VICTIMS:
            return greedy
        row, best = greedy.claims[0].row, greedy
        for size in range(1, len(here) + 1):
            for victims in combinations(here, size):
                if cost_of(victims) < best.cost and self.keep_guarantees(task, victims):
                    claim = self._claim_without(demand, row, victims, ())
                    if claim is not None:
                        best = Eviction(victims, (claim,))
        return best
