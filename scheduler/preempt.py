"""Who gives way: the cheapest set of victims that lets a task start, whole gangs, none of them needless.

A victim is strictly lower in priority in the same organisation; or it belongs to an organisation that keeps its
guarantee without it, while the task's organisation stays inside its own. Both orders are strict, so nothing swings
back and forth. Cost, in this order: highest victim priority, GPU-seconds since the last checkpoint, gangs broken,
count. Greedy by cost per useful resource, then pruned backwards; exact for up to EXACT_VICTIMS candidates on a node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from scheduler.cells import Cells, Claim
from scheduler.columns import RequestClass
from scheduler.demand import Demand, least_members, serves
from scheduler.host import Host, host_of
from scheduler.shares import Shares, asked_by, taken_by
from scheduler.timeline import Future, Member
from scheduler.types import Task

EXACT_VICTIMS = 12
EXACT_ROWS = 8
SEARCH_ROWS = 256

Cost = tuple[int, float, int, int]


@dataclass(frozen=True, slots=True)
class Victim:
    """A task that may give way, all its members together."""

    task: Task
    members: tuple[Member, ...]
    lost_gpu_s: float

    @property
    def rows(self) -> set[int]:
        return {member.claim.row for member in self.members}


@dataclass(frozen=True, slots=True)
class Eviction:
    """These tasks go, these claims are then free for the task."""

    victims: tuple[Victim, ...]
    claims: tuple[Claim, ...]

    @property
    def cost(self) -> Cost:
        return cost_of(self.victims)


def cost_of(victims: Collection[Victim]) -> Cost:
    """Lower is better. Guarantee violations come first of all and are zero: such victims are not candidates."""
    priority = max((v.task.priority for v in victims), default=0)
    lost = sum(v.lost_gpu_s for v in victims)
    return priority, round(lost, 3), sum(len(v.members) > 1 for v in victims), len(victims)


def _by_cost(eviction: Eviction) -> tuple[Cost, int]:
    return eviction.cost, eviction.claims[-1].row


class Preemptor:
    """Finds victims among the members that run. Reads shares and the future, changes nothing."""

    def __init__(
        self, cells: Cells, future: Future, shares: Shares, now: float, checkpoints: Mapping[str, float]
    ) -> None:
        self.cells, self.future, self.shares, self.now = cells, future, shares, now
        self.victims = self._candidates(checkpoints)
        self.on_row: defaultdict[int, list[Victim]] = defaultdict(list)
        self.by_organisation: defaultdict[str, list[Victim]] = defaultdict(list)
        for victim in self.victims.values():
            self.by_organisation[victim.task.organisation].append(victim)
            for row in sorted(victim.rows):
                self.on_row[row].append(victim)

    def _candidates(self, checkpoints: Mapping[str, float]) -> dict[str, Victim]:
        """Every task that may be asked at all: pre-emptible, past its minimum run time, not on its way out."""
        by_task: defaultdict[str, list[Member]] = defaultdict(list)
        for members in self.future.members.values():
            for member in members:
                by_task[member.task.id].append(member)
        return {
            task_id: Victim(members[0].task, tuple(members), self._lost(members, checkpoints.get(task_id)))
            for task_id, members in by_task.items()
            if self._may_be_asked(members)
        }

    def _may_be_asked(self, members: Sequence[Member]) -> bool:
        task = members[0].task
        ran = self.now - max(member.started_at for member in members)
        return task.preemptible and ran >= task.min_runtime_s and not any(member.leaving for member in members)

    def _lost(self, members: Sequence[Member], checkpoint: float | None) -> float:
        """GPU-seconds of work since the last checkpoint."""
        total = 0.0
        for member in members:
            since = max(member.started_at, checkpoint if checkpoint is not None else member.started_at)
            milli = sum(piece.core_milli for piece in member.claim.slices)
            total += milli / 1000 * max(0.0, self.now - since)
        return total

    def may(self, task: Task, victim: Victim) -> bool:
        """Whether the task may take the victim's place."""
        if task.organisation == victim.task.organisation:
            return victim.task.priority < task.priority
        return self._may_reclaim(task) and self._spared(victim.task.organisation, [victim])

    def _spared(self, organisation: str, victims: Sequence[Victim]) -> bool:
        """Whether the organisation keeps its guarantee when these of its tasks are gone."""
        gone: defaultdict[str, int] = defaultdict(int)
        for victim in victims:
            if victim.task.organisation == organisation:
                for member in victim.members:
                    for resource, amount in taken_by(self.cells, member.claim).items():
                        gone[resource] += amount
        return self.shares.above_guarantee(organisation, gone)

    def forget(self, victim: Victim) -> None:
        """The victim has been asked to go; it is no candidate any more."""
        del self.victims[victim.task.id]
        self.by_organisation[victim.task.organisation].remove(victim)
        for row in victim.rows:
            self.on_row[row].remove(victim)

    def lawful(self, task: Task, victims: Sequence[Victim]) -> bool:
        """Whether these victims together leave every other organisation its guarantee."""
        others = {v.task.organisation for v in victims} - {task.organisation}
        return all(self._spared(organisation, victims) for organisation in others)

    def find(self, task: Task, kind: RequestClass, least: int) -> Eviction | None:
        """The cheapest eviction that makes room for `least` members, or None."""
        may = self._lawful_one_by_one(task)
        if not may:
            return None
        if least == 1:
            return self._single(task, kind, may)
        return self._several(task, kind, may, least)

    def _lawful_one_by_one(self, task: Task) -> set[str]:
        """Every victim that the task may take the place of, looked up by organisation."""
        own = {v.task.id for v in self.by_organisation[task.organisation] if v.task.priority < task.priority}
        if not self._may_reclaim(task):
            return own
        others = (o for o in list(self.by_organisation) if o != task.organisation)
        return own | {v.task.id for o in others for v in self.by_organisation[o] if self._spared(o, [v])}

    def _may_reclaim(self, task: Task) -> bool:
        """Whether the task would still be inside its organisation's guarantee."""
        return self.shares.within_guarantee(task.organisation, asked_by(task, least_members(task)))

    def _single(self, task: Task, kind: RequestClass, may: set[str]) -> Eviction | None:
        """Rows with the cheapest victims first, SEARCH_ROWS at a time, until some of them can make room."""
        rows = self._cheapest_rows(may)
        for start in range(0, len(rows), SEARCH_ROWS):
            tried = (
                self._greedy(task, kind, row, self._here(row, may), ()) for row in rows[start : start + SEARCH_ROWS]
            )
            found = sorted((e for e in tried if e is not None), key=_by_cost)
            if found:
                exact = [
                    self._exact(task, kind.demand, e, self._here(e.claims[0].row, may)) for e in found[:EXACT_ROWS]
                ]
                return min([*exact, *found[EXACT_ROWS:]], key=_by_cost)
        return None

    def _cheapest_rows(self, may: set[str]) -> list[int]:
        cheapest: dict[int, Cost] = {}
        for key in may:
            cost = cost_of([self.victims[key]])
            for row in self.victims[key].rows:
                cheapest[row] = min(cost, cheapest.get(row, cost))
        return sorted(cheapest, key=lambda row: (cheapest[row], row))

    def _several(self, task: Task, kind: RequestClass, may: set[str], least: int) -> Eviction | None:
        """Members one after the other, each on the row where it costs least more."""
        victims: list[Victim] = []
        claims: list[Claim] = []
        rows = sorted({row for key in may for row in self.victims[key].rows} | self._open_rows(kind))
        while len(claims) < least:
            options = [self._greedy(task, kind, row, self._here(row, may), victims, claims) for row in rows]
            best = min((o for o in options if o is not None), key=_by_cost, default=None)
            if best is None:
                return None
            victims, claims = list(best.victims), [*claims, *best.claims]
        return Eviction(tuple(victims), tuple(claims)) if victims and self.lawful(task, victims) else None

    def _open_rows(self, kind: RequestClass) -> set[int]:
        rows = np.arange(len(self.cells))
        return set(np.flatnonzero(kind.room(rows)[0]).tolist())

    def _here(self, row: int, may: set[str]) -> list[Victim]:
        return [victim for victim in self.on_row.get(row, ()) if victim.task.id in may]

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
        ahead = (kept for kept in self.future.on_row(row) if not self.future.gives_way(kept, task))
        if not kind.allowed[row] or any(kept.start_p50 > self.now for kept in ahead):
            return None
        fresh = [victim for victim in here if victim not in gone]
        chosen: list[Victim] = []
        for victim in sorted(
            fresh, key=lambda v: (v.task.priority, v.lost_gpu_s / self._useful(v, row, kind), v.task.id)
        ):
            if self._fit(kind.demand, row, [*gone, *chosen], taken) is not None:
                break
            chosen.append(victim)
        if self._fit(kind.demand, row, [*gone, *chosen], taken) is None:
            return None
        self._prune(kind.demand, row, chosen, gone, taken)
        claim = self._fit(kind.demand, row, [*gone, *chosen], taken)
        victims = (*gone, *chosen)
        return Eviction(victims, (claim,)) if claim is not None and self.lawful(task, victims) else None

    def _prune(
        self, demand: Demand, row: int, chosen: list[Victim], gone: Sequence[Victim], taken: Sequence[Claim]
    ) -> None:
        """Spare every victim that turns out not to be needed, the dearest first."""
        for victim in sorted(chosen, key=lambda v: cost_of([v]), reverse=True):
            rest = [v for v in chosen if v is not victim]
            if self._fit(demand, row, [*gone, *rest], taken) is not None:
                chosen.remove(victim)

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
        for member in self.future.members.get(row, ()):
            if member.leaving:
                host.give_back(member.claim)
        for kept in self.future.on_row(row):
            if kept.start_p50 <= self.now:
                kept.put_on(host)
        for victim in gone:
            for member in victim.members:
                if member.claim.row == row:
                    host.give_back(member.claim)
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
