"""One scheduling pass over an engine's cells: decide each task in turn, reserve, pre-empt, and explain the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from scheduler.accounts import Accounts
from scheduler.allocator import Allocator
from scheduler.backlog import Backlog
from scheduler.bookings import Bookings
from scheduler.catalogue import Entry
from scheduler.cells import Bools, Claim
from scheduler.decisions import Cause, CauseCode, Place, Plan, Preempt, Wait
from scheduler.explain import Explainer, Pending
from scheduler.fit_diagnosis import Finding
from scheduler.gangs import GangPlacer
from scheduler.order import Turns
from scheduler.preempt import Preemptor
from scheduler.reservations import Reservation
from scheduler.roster import Roster, member_of
from scheduler.rules import Rules
from scheduler.shares import taken_by_all
from scheduler.types import Task
from scheduler.victims import Eviction

ShutKey = tuple[int, str, int]


class Pass:
    """The state of one pass over what the engine keeps. The engine takes back what it changes."""

    def __init__(
        self,
        allocator: Allocator,
        backlog: Backlog,
        roster: Roster,
        accounts: Accounts,
        checkpoints: Mapping[str, float],
        now: float,
        rules: Rules,
        promised: Mapping[str, Sequence[str]],
    ) -> None:
        self.allocator, self.cells, self.now, self.rules = allocator, allocator.cells, now, rules
        self.backlog, self.roster, self.accounts = backlog, roster, accounts
        self.shares, self.book = accounts.shares, accounts.book
        self.bookings = Bookings(allocator, backlog, roster, accounts, now, rules, promised)
        self.future = self.bookings.future
        self.preemptor = Preemptor(
            self.cells, self.future, self.shares, now, checkpoints, firm=rules.firm_over_guarantee
        )
        self.gangs = GangPlacer(allocator)
        self.places: list[Place] = []
        self.preempts: list[Preempt] = []
        self.pending: list[Pending] = []
        self.committed: list[Claim] = []
        self._full: set[int] = set()
        self._shut: dict[ShutKey, tuple[float, Finding]] = {}
        self._no_victims: set[tuple[int, str, int]] = set()
        self._evictions = rules.evictions
        self._open: set[int] = set()

    def run(self, holds: Mapping[str, Sequence[str]]) -> Plan:
        """Decide all tasks. `holds`: nodes that were emptied for a task; such tasks come first."""
        first = self.bookings.emptied(holds)
        if not self.rules.explain:
            self._look_for_room()
            if not first and self._settled(self.bookings.still_promised()):
                return Plan(tuple(self._waits()))
        self.bookings.keep_room(first)
        self.bookings.keep_promises(first)
        turns = Turns(self.backlog, self.shares, self.accounts.paths, self.now, first)
        while (entry := turns.next()) is not None and not (self._settled() and not first):
            before = self.accounts.posted
            self._decide(entry)
            turns.done(self.accounts.posted != before)
        return Plan((*self.preempts, *self.places, *self._waits()))

    def _waits(self) -> Sequence[Wait]:
        if not self.rules.explain:
            return self.bookings.waits(self.pending, [place.task_id for place in self.places])
        return Explainer(self.allocator, self.future, self.preemptor, self.rules).waits(self.pending)

    def _look_for_room(self) -> None:
        """Sort out the classes that do not fit anywhere now: within a pass room only shrinks."""
        for entry in self.backlog.samples():
            fits = self.allocator.column(entry.demand).best() is not None
            (self._open if fits else self._full).add(entry.key)

    def _settled(self, reserved: int | None = None) -> bool:
        """Whether no turn that is still to come would change anything, and nobody wants to know why."""
        if self.rules.explain or self.preemptor.anybody():
            return False
        if self.rules.in_order and self.pending:
            return True
        reserved = len(self.future.reservations) if reserved is None else reserved
        return not self._open and reserved >= self.rules.reservations

    def _decide(self, entry: Entry) -> None:
        task = entry.task
        problem = entry.problem or self.book.blocked_by(task, entry.asked)
        if problem is None and self.rules.in_order and self.pending:
            problem = Cause(CauseCode.BEHIND_RESERVATION, {"for_task": self.pending[0].entry.task.id})
        if problem is not None:
            self.pending.append(Pending(entry, Finding(problem)))
            return
        if entry.key not in self._full:
            claims, stopped = self._place(entry)
            if claims is not None:
                self._start(task, claims)
                return
            if stopped is not None:
                self._hold_back(entry, stopped)
                return
            self._full.add(entry.key)
            self._open.discard(entry.key)
        self._blocked(entry)

    def _place(self, entry: Entry) -> tuple[list[Claim] | None, Finding | None]:
        """Committed claims; or why it was stopped although it fits; or neither when it does not fit."""
        task = entry.task
        end = task.estimate_p90_s if task.estimate_p90_s is not None else math.inf
        key = self._shut_key(entry)
        shut = self._shut.get(key) if self.future.kept_for(task.id) is None else None  # it may use its own room
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
        if stopped is None or stopped.cause.code is not CauseCode.BEHIND_RESERVATION:
            return None, stopped
        if (claims := self._beside(entry, forbidden)) is not None:
            return claims, None
        if not task.preemptible:
            self._shut_out(key, -math.inf if self.future.all_held(forbidden) else end, stopped)
        return None, stopped

    def _beside(self, entry: Entry, refused: Bools | None) -> list[Claim] | None:
        """Committed claims next to what is kept for others; a gang looks where its own room is.

        Two that were promised room on one node keep each other from it if each takes the place that suits it best.
        """
        task, kept = entry.task, self.future.kept_for(entry.task.id)
        rows = np.flatnonzero(refused).tolist() if refused is not None and entry.least == 1 else []
        if kept is not None:
            rows = list(dict.fromkeys((*(claim.row for claim in kept.claims), *rows)))
        claims = self.future.beside(task, entry.demand, rows, entry.least)
        if len(claims) < entry.least:
            return None
        for claim in claims:
            self.allocator.commit(claim)
        if self._refusal(task, claims) is None:
            return claims
        self.allocator.undo(claims)
        return None

    def _shut_key(self, entry: Entry) -> ShutKey:
        """Who meets the same reservations: promises give way to some, the others do not ask who comes."""
        return entry.key, *((entry.task.organisation, entry.task.priority) if self.future.has_promises else ("", 0))

    def _shut_out(self, key: ShutKey, end: float, stopped: Finding) -> None:
        """Tasks of this kind that end then or later need not be tried again in this pass."""
        before = self._shut.get(key)
        self._shut[key] = (end if before is None else min(end, before[0])), stopped
        if math.isinf(end) and end < 0 and not self.backlog.preemptible and not self.future.has_promises:
            self._open.discard(key[0])

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
        bundle = taken_by_all(self.cells, claims)
        over = self.book.blocked_by(task, bundle)
        return None if over is None else ([claim.row for claim in claims], Finding(over))

    def _behind(self, task: Task, row: int) -> Cause:
        reservation = self.future.first_on(row, task)
        params: dict[str, int | float | str] = {"node": self.cells.nodes[row].id}
        if reservation is not None:
            params |= {"for_task": reservation.task.id, "start_p50": reservation.start_p50}
        return Cause(CauseCode.BEHIND_RESERVATION, params)

    def _start(self, task: Task, claims: list[Claim]) -> None:
        self.committed += claims
        self.bookings.release(task)
        for number, claim in enumerate(claims):
            member = member_of(self.cells, task, claim, self.now)
            self.accounts.charge(task, member.bundle)
            self.future.placed(member)
            self.places.append(Place(task.id, self.cells.nodes[claim.row].id, claim.slices, number))

    def _hold_back(self, entry: Entry, stopped: Finding) -> None:
        """It fits, but a reservation or a quota stands before it."""
        behind = stopped.cause.code is CauseCode.BEHIND_RESERVATION
        self.pending.append(Pending(entry, stopped, self.bookings.reserve(entry) if behind else None))

    def _blocked(self, entry: Entry) -> None:
        """It does not fit: wait for victims that leave, ask for some, or reserve the earliest start."""
        kept = self.future.kept_for(entry.task.id)
        if kept is None or kept.promised:
            eviction = self._find_victims(entry)
            kept = self._evict(entry.task, eviction) if eviction is not None else None
        if kept is None:
            self.pending.append(Pending(entry, None, self.bookings.reserve(entry)))
            return
        cause = Cause(CauseCode.WAITING_FOR_VICTIMS, {"node": self.cells.nodes[kept.claims[0].row].id})
        self.pending.append(Pending(entry, Finding(cause), kept))

    def _find_victims(self, entry: Entry) -> Eviction | None:
        if self._evictions <= 0 or not self.preemptor.anybody():
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
            self.accounts.lend(victim.task, victim.bundle, -1)
            self.future.leaves(victim.task.id, task.id)
        self.preemptor.asked(eviction.victims)
        self.accounts.lend(task, taken_by_all(self.cells, eviction.claims))
        notice = self.now + self.rules.notice_s
        run = task.estimate_p90_s if task.estimate_p90_s is not None else math.inf
        self.bookings.release(task)
        start_p90, end = notice + self.rules.save_window_s, self.now + run
        kept = Reservation(task, eviction.claims, self.now, start_p90, end, emptied=True)
        self.future.add(kept)
        return replace(kept, start_p50=notice)
