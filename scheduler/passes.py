"""One scheduling pass over an engine's cells: decide each task in turn, reserve, pre-empt, and explain the rest."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scheduler.allocator import Allocator
from scheduler.catalogue import Catalogue, Entry
from scheduler.cells import Bools, Claim
from scheduler.decisions import Cause, CauseCode, Place, Plan, Preempt
from scheduler.explain import Explainer, Pending
from scheduler.funnel import Finding
from scheduler.gangs import GangPlacer
from scheduler.order import Paths, Turns
from scheduler.preempt import Eviction, Preemptor
from scheduler.quota import QuotaBook
from scheduler.rules import Rules
from scheduler.shares import Claimed, Shares, fraction, taken_by
from scheduler.timeline import Future, Member, Reservation, member_of
from scheduler.types import Task


class Pass:
    """The state of one pass. `book`, `shares` and `paths` already hold what runs."""

    def __init__(
        self,
        allocator: Allocator,
        catalogue: Catalogue,
        members: Iterable[Member],
        shares: Shares,
        paths: Paths,
        book: QuotaBook,
        now: float,
        rules: Rules,
    ) -> None:
        self.allocator, self.cells, self.now, self.rules = allocator, allocator.cells, now, rules
        self.catalogue = catalogue
        self.shares, self.paths, self.book = shares, paths, book
        by_row: defaultdict[int, list[Member]] = defaultdict(list)
        for member in members:
            by_row[member.claim.row].append(member)
        self.future = Future(self.cells, now, by_row, self._takes_back, self._outranks)
        self.checkpoints: Mapping[str, float] = {}
        self.gangs = GangPlacer(allocator)
        self.places: list[Place] = []
        self.preempts: list[Preempt] = []
        self.pending: list[Pending] = []
        self.committed: list[Claim] = []
        self._full: set[int] = set()
        self._shut: dict[int, tuple[float, Finding]] = {}
        self._no_victims: set[tuple[int, str, int]] = set()
        self._preemptor: Preemptor | None = None
        self._evictions = rules.evictions

    @property
    def preemptor(self) -> Preemptor:
        if self._preemptor is None:
            self._preemptor = Preemptor(self.cells, self.future, self.shares, self.now, self.checkpoints)
        return self._preemptor

    def run(
        self,
        waiting: Sequence[Task],
        checkpoints: Mapping[str, float],
        holds: Mapping[str, Sequence[str]],
        promised: Mapping[str, Sequence[str]],
    ) -> Plan:
        """Decide all tasks. `holds`: nodes that were emptied for a task; such tasks come first.

        `promised`: nodes that an earlier pass reserved for a task, in the order of the promises.
        """
        self.checkpoints = checkpoints
        leaving = self._leaving_for()
        first = {
            task.id: (*holds.get(task.id, ()), *leaving.get(task.id, ()))
            for task in waiting
            if task.id in holds or task.id in leaving
        }
        self._keep_room(waiting, first)
        self._keep_promises({task.id: task for task in waiting if task.id not in first}, promised)
        turns = Turns(
            [self.catalogue.of(task) for task in waiting], self.shares, self.paths, self.now, first, self.rules.patience
        )
        while (entry := turns.next()) is not None:
            turns.done(self._decide(entry))
        explainer = Explainer(self.allocator, self.future, self.preemptor, self.rules)
        return Plan((*self.preempts, *self.places, *explainer.waits(self.pending)))

    def _takes_back(self, reserved: Task, other: Task) -> bool:
        """Whether the reserved task may end the other one when its time comes: by priority, in one organisation."""
        return reserved.organisation == other.organisation and other.priority < reserved.priority

    def _outranks(self, other: Task, promised: Task) -> bool:
        """Whether the other task may break an earlier promise: by priority, or as part of its guarantee."""
        if other.organisation == promised.organisation:
            return other.priority > promised.priority
        claims = [self._claimed(task) for task in (other, promised)]
        return claims[0] is Claimed.INSIDE and claims[1] is not Claimed.INSIDE

    def _claimed(self, task: Task) -> Claimed:
        return self.shares.claim_on_promise(task.organisation, self.catalogue.of(task).asked)

    def _leaving_for(self) -> dict[str, set[str]]:
        """Nodes by the task that members on them are leaving for."""
        nodes: defaultdict[str, set[str]] = defaultdict(set)
        for row, members in self.future.members.items():
            for member in members:
                if member.leaving_for is not None:
                    nodes[member.leaving_for].add(self.cells.nodes[row].id)
        return nodes

    def _keep_room(self, waiting: Sequence[Task], first: Mapping[str, Sequence[str]]) -> None:
        """Reserve what was emptied, so that nobody else starts there while the last victims leave."""
        for task in waiting:
            entry = self.catalogue.of(task) if task.id in first else None
            if entry is not None and entry.problem is None:
                rows = [self.cells.row_of[node] for node in first[task.id] if node in self.cells.row_of]
                kind = self.allocator.column(entry.demand).kind
                reservation = self.future.reserve(kind, task, entry.least, sorted(set(rows)))
                if reservation is not None and reservation.start_p50 <= self.now:
                    self.future.add(reservation)

    def _keep_promises(self, waiting: Mapping[str, Task], promised: Mapping[str, Sequence[str]]) -> None:
        """Reserve again where earlier passes did, so that what was promised moves only when ends move."""
        for task_id, nodes in list(promised.items())[: self.rules.reservations]:
            entry = self.catalogue.of(waiting[task_id]) if task_id in waiting else None
            rows = sorted({self.cells.row_of[node] for node in nodes if node in self.cells.row_of})
            if entry is not None and entry.problem is None and rows:
                kind = self.allocator.column(entry.demand).kind
                reservation = self.future.reserve(kind, entry.task, entry.least, rows)
                if reservation is not None:
                    self.future.add(replace(reservation, promised=True))

    def _decide(self, entry: Entry) -> bool:
        """True when the task starts."""
        task = entry.task
        problem = entry.problem or self.book.blocked_by(task, entry.asked)
        if problem is None and self.rules.in_order and self.pending:
            problem = Cause(CauseCode.BEHIND_RESERVATION, {"for_task": self.pending[0].entry.task.id})
        if problem is not None:
            self.pending.append(Pending(entry, Finding(problem)))
            return False
        if entry.key not in self._full:
            claims, stopped = self._place(entry)
            if claims is not None:
                self._start(task, claims)
                return True
            if stopped is not None:
                self._hold_back(entry, stopped)
                return False
            self._full.add(entry.key)
        self._blocked(entry)
        return False

    def _place(self, entry: Entry) -> tuple[list[Claim] | None, Finding | None]:
        """Committed claims; or why it was stopped although it fits; or neither when it does not fit."""
        task = entry.task
        end = task.estimate_p90_s if task.estimate_p90_s is not None else math.inf
        shut = self._shut.get(entry.key)
        if shut is not None and end >= shut[0] and not task.preemptible:
            return None, shut[1]
        forbidden: Bools | None = None
        stopped: Finding | None = None
        while (claims := self._candidate(entry, forbidden)) is not None:
            refusal = self._refusal(task, claims)
            if refusal is None:
                return claims, None
            self.allocator.undo(claims)
            rows, stopped = refusal
            forbidden = np.zeros(len(self.cells), np.bool_) if forbidden is None else forbidden
            forbidden[rows] = True
        if stopped is not None and stopped.cause.code is CauseCode.BEHIND_RESERVATION and not task.preemptible:
            self._shut[entry.key] = (end if shut is None else min(end, shut[0])), stopped
        return None, stopped

    def _candidate(self, entry: Entry, forbidden: Bools | None) -> list[Claim] | None:
        task = entry.task
        if task.gang is not None and task.gang.size > 1:
            return self.gangs.place(task, task.gang, entry.demand, forbidden)
        claim = self.allocator.spot(entry.demand, task.organisation, forbidden)
        if claim is None:
            return None
        self.allocator.commit(claim)
        return [claim]

    def _refusal(self, task: Task, claims: list[Claim]) -> tuple[list[int], Finding] | None:
        """Rows to avoid and why, when a reservation or a quota on the model forbids the claims."""
        if self.future.reservations:
            for claim in claims:
                if self.future.reserved(claim.row) and not self.future.allows(task, claims, claim.row):
                    return [claim.row], Finding(self._behind(task, claim.row))
        bundle = self._bundle(claims)
        over = self.book.blocked_by(task, bundle)
        return None if over is None else ([claim.row for claim in claims], Finding(over))

    def _behind(self, task: Task, row: int) -> Cause:
        reservation = self.future.first_on(row, task)
        params: dict[str, int | float | str] = {"node": self.cells.nodes[row].id}
        if reservation is not None:
            params |= {"for_task": reservation.task.id, "start_p50": reservation.start_p50}
        return Cause(CauseCode.BEHIND_RESERVATION, params)

    def _bundle(self, claims: Sequence[Claim]) -> dict[str, int]:
        total: defaultdict[str, int] = defaultdict(int)
        for claim in claims:
            for resource, amount in taken_by(self.cells, claim).items():
                total[resource] += amount
        return total

    def _start(self, task: Task, claims: list[Claim]) -> None:
        bundle = self._bundle(claims)
        self.committed += claims
        self.future.drop(task.id)
        self.book.charge(task, bundle)
        self.shares.add(task.organisation, bundle)
        self.paths.add(self.paths.of(task), fraction(bundle, self.shares.total))
        for number, claim in enumerate(claims):
            self.future.placed(member_of(task, claim, self.now, self.now))
            self.places.append(Place(task.id, self.cells.nodes[claim.row].id, claim.slices, number))

    def _hold_back(self, entry: Entry, stopped: Finding) -> None:
        """It fits, but a reservation or a quota stands before it."""
        behind = stopped.cause.code is CauseCode.BEHIND_RESERVATION
        self.pending.append(Pending(entry, stopped, self._reserve(entry) if behind else None))

    def _blocked(self, entry: Entry) -> None:
        """It does not fit: wait for victims that leave, ask for some, or reserve the earliest start."""
        kept = self.future.kept_for(entry.task.id)
        if kept is None or kept.promised:
            eviction = self._find_victims(entry)
            kept = self._evict(entry.task, eviction) if eviction is not None else None
        if kept is None:
            self.pending.append(Pending(entry, None, self._reserve(entry)))
            return
        cause = Cause(CauseCode.WAITING_FOR_VICTIMS, {"node": self.cells.nodes[kept.claims[0].row].id})
        self.pending.append(Pending(entry, Finding(cause), kept))

    def _find_victims(self, entry: Entry) -> Eviction | None:
        if self._evictions <= 0 or not self.preemptor.victims:
            return None
        key = (entry.key, entry.task.organisation, entry.task.priority)
        kind = self.allocator.column(entry.demand).kind
        if key in self._no_victims or not kind.allowed.any():
            return None
        self._evictions -= 1
        eviction = self.preemptor.find(entry.task, kind, entry.least)
        if eviction is None:
            self._no_victims.add(key)
        return eviction

    def _evict(self, task: Task, eviction: Eviction) -> Reservation:
        for victim in eviction.victims:
            same = victim.task.organisation == task.organisation
            why = "higher_priority" if same else "guarantee"
            self.preempts.append(Preempt(victim.task.id, task.id, why))
            self.shares.add(victim.task.organisation, self._bundle([m.claim for m in victim.members]), -1)
            self.future.leaves(victim.members, task.id)
            self.preemptor.forget(victim)
        self.shares.add(task.organisation, self._bundle(eviction.claims))
        notice = self.now + self.rules.notice_s
        run = task.estimate_p90_s if task.estimate_p90_s is not None else math.inf
        self.future.drop(task.id)
        kept = Reservation(task, eviction.claims, self.now, notice + self.rules.save_window_s, self.now + run)
        self.future.add(kept)
        return replace(kept, start_p50=notice)

    def _reserve(self, entry: Entry) -> Reservation | None:
        """The earliest start, kept for the first tasks in the queue that cannot start now."""
        promised = self.future.kept_for(entry.task.id)
        if promised is not None or len(self.future.reservations) >= self.rules.reservations:
            return promised
        reservation = self.future.reserve(self.allocator.column(entry.demand).kind, entry.task, entry.least)
        if reservation is not None:
            self.future.add(reservation)
        return reservation
