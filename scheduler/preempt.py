"""Who gives way: the cheapest set of victims that lets a task start, whole gangs, none of them needless.

A victim is strictly lower in priority in the same organisation; or it belongs to an organisation that keeps its
guarantee without it, while the task's organisation stays inside its own. Both orders are strict, so nothing swings
back and forth. Cost, in this order: highest victim priority, GPU-seconds since the last checkpoint, gangs broken,
count. Greedy by cost per useful resource, then pruned backwards; exact for up to EXACT_VICTIMS candidates on a node.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from scheduler.cells import Cells, Claim
from scheduler.columns import RequestClass
from scheduler.demand import Demand, least_members, serves
from scheduler.host import Host, host_of
from scheduler.roster import Member
from scheduler.shares import Shares, asked_by
from scheduler.timeline import Future
from scheduler.types import Task
from scheduler.victims import Eviction, Victim, bundle_of, by_cost, cost_of, go, prune

EXACT_VICTIMS = 12
EXACT_ROWS = 8
SEARCH_ROWS = 256


class Preemptor:
    """Finds victims among the members that ran before the pass. Reads shares and the future, changes nothing."""

    def __init__(
        self, cells: Cells, future: Future, shares: Shares, now: float, checkpoints: Mapping[str, float]
    ) -> None:
        self.cells, self.future, self.shares, self.now = cells, future, shares, now
        self.roster, self.checkpoints = future.roster, checkpoints
        self._victims: dict[str, Victim] = {}
        self._spared_of: dict[str, tuple[int, dict[str, Victim]]] = {}

    def anybody(self) -> bool:
        """Whether anybody at all might be asked."""
        return any(self.roster.yielding.values())

    def victim(self, task_id: str) -> Victim | None:
        """The task as a victim, when it may be asked at all: pre-emptible, past its minimum run time, not leaving."""
        members = self.roster.of_task.get(task_id)
        if members is None or not self._may_be_asked(members):
            return None
        if task_id not in self._victims:
            lost = self._lost(members, self.checkpoints.get(task_id))
            self._victims[task_id] = Victim(members[0].task, tuple(members), lost, bundle_of(members))
        return self._victims[task_id]

    def _may_be_asked(self, members: Sequence[Member]) -> bool:
        task = members[0].task
        ran = self.now - max(member.started_at for member in members)
        yields = task.preemptible and not any(member.leaving for member in members)
        return yields and ran >= task.min_runtime_s and self.roster.ran_before(task.id)

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
            return victim.task.priority < task.priority
        return self._may_reclaim(task) and self._spared(victim.task.organisation, [victim])

    def _spared(self, organisation: str, victims: Sequence[Victim]) -> bool:
        """Whether the organisation keeps its guarantee when these of its tasks are gone."""
        gone = bundle_of(m for victim in victims if victim.task.organisation == organisation for m in victim.members)
        return self.shares.above_guarantee(organisation, gone)

    def lawful(self, task: Task, victims: Sequence[Victim]) -> bool:
        """Whether these victims together leave every other organisation its guarantee."""
        others = {v.task.organisation for v in victims} - {task.organisation}
        return all(self._spared(organisation, victims) for organisation in others)

    def find(self, task: Task, kind: RequestClass, least: int) -> Eviction | None:
        """The cheapest eviction that makes room for `least` members, or None."""
        may = self._lawful_one_by_one(task)
        if not may:
            return None
        here: defaultdict[int, list[Victim]] = defaultdict(list)
        for victim in sorted(may, key=lambda v: v.task.id):
            for row in victim.rows:
                here[row].append(victim)
        return self._single(task, kind, here) if least == 1 else self._several(task, kind, here, least)

    def _lawful_one_by_one(self, task: Task) -> list[Victim]:
        """Every victim that the task may take the place of."""
        own = [v for v in self._of(task.organisation) if v.task.priority < task.priority]
        if not self._may_reclaim(task):
            return own
        others = sorted(o for o, tasks in self.roster.yielding.items() if tasks and o != task.organisation)
        return own + [victim for o in others for victim in self._can_spare(o)]

    def _of(self, organisation: str) -> list[Victim]:
        found = (self.victim(task_id) for task_id in list(self.roster.yielding.get(organisation, ())))
        return [victim for victim in found if victim is not None]

    def _can_spare(self, organisation: str) -> Iterable[Victim]:
        """The organisation's tasks that its guarantee does not rest on, each taken alone."""
        as_of = self.shares.changes[organisation]
        known = self._spared_of.get(organisation)
        if known is None or known[0] != as_of:
            mine = self._of(organisation)
            spared = {v.task.id: v for v in mine if self.shares.above_guarantee(organisation, v.bundle)}
            known = self._spared_of[organisation] = as_of, spared
        return known[1].values()

    def _may_reclaim(self, task: Task) -> bool:
        """Whether the task would still be inside its organisation's guarantee."""
        return self.shares.within_guarantee(task.organisation, asked_by(task, least_members(task)))

    def _single(self, task: Task, kind: RequestClass, here: Mapping[int, list[Victim]]) -> Eviction | None:
        """Rows with the cheapest victims first, up to SEARCH_ROWS that can make room.

        No set of victims on a row is cheaper than its cheapest victim, so the search ends where that is too dear.
        """
        found: list[Eviction] = []
        for floor, row in sorted((min(v.cost for v in victims), row) for row, victims in here.items()):
            if len(found) >= SEARCH_ROWS or (found and by_cost(found[0]) <= (floor, row)):
                break
            eviction = self._greedy(task, kind, row, here[row], ())
            if eviction is not None:
                insort(found, eviction, key=by_cost)
        exact = [self._exact(task, kind.demand, e, here[e.claims[0].row]) for e in found[:EXACT_ROWS]]
        return min([*exact, *found[EXACT_ROWS:]], key=by_cost, default=None)

    def _several(self, task: Task, kind: RequestClass, here: Mapping[int, list[Victim]], least: int) -> Eviction | None:
        """Members one after the other, each on the row where it costs least more."""
        victims: list[Victim] = []
        claims: list[Claim] = []
        rows = sorted(set(here) | self._open_rows(kind))
        while len(claims) < least:
            options = [self._greedy(task, kind, row, here.get(row, []), victims, claims) for row in rows]
            best = min((o for o in options if o is not None), key=by_cost, default=None)
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
