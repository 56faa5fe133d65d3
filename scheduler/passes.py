"""One scheduling pass over an engine's cells: decide each task in turn, reserve, pre-empt, and explain the waits."""

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
from scheduler.horizon import longest_run_s
from scheduler.order import Turns
from scheduler.preempt import Preemptor
from scheduler.reservations import Reservation
from scheduler.roster import Roster, member_of
from scheduler.rules import Rules
from scheduler.shares import bundle_of_claims
from scheduler.types import Task
from scheduler.victims import Eviction

ExclusionKey = tuple[int, str, int]


class Pass:
    """The state of one pass over the engine's data. The engine rolls back its changes."""

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
        self.timeline = self.bookings.timeline
        self.preemptor = Preemptor(
            self.cells, self.timeline, self.shares, now, checkpoints, firm=rules.firm_over_guarantee
        )
        self.gangs = GangPlacer(allocator)
        self.places: list[Place] = []
        self.preempts: list[Preempt] = []
        self.pending: list[Pending] = []
        self.committed: list[Claim] = []
        self._full_classes: set[int] = set()
        self._excluded: dict[ExclusionKey, tuple[float, Finding]] = {}
        self._no_victims: set[tuple[int, str, int]] = set()
        self._evictions = rules.evictions
        self._open_classes: set[int] = set()

    def run(self, holds: Mapping[str, Sequence[str]]) -> Plan:
        """Decide all tasks. `holds`: nodes that were emptied for a task; such tasks come first."""
        first = self.bookings.emptied_nodes(holds)
        if not self.rules.explain:
            self._sort_out_full_classes()
            if not first and self._nothing_left_to_start(self.bookings.promise_count()):
                return Plan(tuple(self._waits()))
        turns = self._open(first)
        while (entry := turns.next()) is not None and not (self._nothing_left_to_start() and not first):
            self._take_turn(entry, turns)
        return Plan((*self.preempts, *self.places, *self._waits()))

    def _open(self, first: Mapping[str, Sequence[str]]) -> Turns:
        """Reserve what was promised before. `first`: tasks for which nodes were emptied."""
        self.bookings.reserve_emptied(first)
        self.bookings.restore_promises(first)
        return Turns(self.backlog, self.shares, self.accounts.paths, self.now, first)

    def _take_turn(self, entry: Entry, turns: Turns) -> None:
        before = self.accounts.bill_count
        self._decide(entry)
        turns.done(self.accounts.bill_count != before)

    def _waits(self) -> Sequence[Wait]:
        if not self.rules.explain:
            return self.bookings.waits(self.pending, [place.task_id for place in self.places])
        return self._explainer().waits(self.pending)

    def _explainer(self) -> Explainer:
        return Explainer(self.allocator, self.timeline, self.preemptor, self.rules)

    def _sort_out_full_classes(self) -> None:
        """Find the classes that do not fit anywhere now: within a pass free room only shrinks."""
        for entry in self.backlog.samples():
            fits = self.allocator.column(entry.demand).best() is not None
            (self._open_classes if fits else self._full_classes).add(entry.key)

    def _nothing_left_to_start(self, reserved: int | None = None) -> bool:
        """Whether no further turn would change anything, and no explanations are wanted."""
        if self.rules.explain or self.preemptor.has_candidates():
            return False
        if self.rules.in_order and self.pending:
            return True
        reserved = len(self.timeline.reservations) if reserved is None else reserved
        return not self._open_classes and reserved >= self.rules.reservations

    def _decide(self, entry: Entry) -> None:
        task = entry.task
        problem = entry.problem or self.book.blocked_by(task, entry.asked)
        if problem is None and self.rules.in_order and self.pending:
            problem = Cause(CauseCode.BEHIND_RESERVATION, {"for_task": self.pending[0].entry.task.id})
        if problem is not None:
            self.pending.append(Pending(entry, Finding(problem)))
            return
        if entry.key not in self._full_classes:
            claims, stopped = self._place(entry)
            if claims is not None:
                self._start(task, claims)
                return
            if stopped is not None:
                self._wait_behind(entry, stopped)
                return
            self._full_classes.add(entry.key)
            self._open_classes.discard(entry.key)
        self._wait_or_preempt(entry)

    def _place(self, entry: Entry) -> tuple[list[Claim] | None, Finding | None]:
        """Committed claims; or, if it fits but may not start, the reason; or neither if it does not fit."""
        task = entry.task
        end = longest_run_s(task)
        key = self._exclusion_key(entry)
        excluded = (
            self._excluded.get(key) if self.timeline.reservation_of(task.id) is None else None
        )  # it may use its own room
        if excluded is not None and end >= excluded[0] and not task.preemptible:
            return None, excluded[1]
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
        if (claims := self._place_beside(entry, forbidden)) is not None:
            return claims, None
        if not task.preemptible:
            self._exclude(key, -math.inf if self.timeline.all_held(forbidden) else end, stopped)
        return None, stopped

    def _place_beside(self, entry: Entry, refused: Bools | None) -> list[Claim] | None:
        """Committed claims beside the reservations of others; a gang only tries the rows of its own reservation.

        Two tasks with promised room on one node would block each other if each took its best-scored place.
        """
        task, reservation = entry.task, self.timeline.reservation_of(entry.task.id)
        rows = np.flatnonzero(refused).tolist() if refused is not None and entry.least == 1 else []
        if reservation is not None:
            rows = list(dict.fromkeys((*(claim.row for claim in reservation.claims), *rows)))
        claims = self.timeline.claims_beside(task, entry.demand, rows, entry.least)
        if len(claims) < entry.least:
            return None
        for claim in claims:
            self.allocator.commit(claim)
        if self._refusal(task, claims) is None:
            return claims
        self.allocator.undo(claims)
        return None

    def _exclusion_key(self, entry: Entry) -> ExclusionKey:
        """The key of tasks that meet the same reservations; organisation and priority matter only to promises."""
        return entry.key, *((entry.task.organisation, entry.task.priority) if self.timeline.has_promises else ("", 0))

    def _exclude(self, key: ExclusionKey, end: float, stopped: Finding) -> None:
        """Skip tasks of this key that end then or later for the rest of the pass."""
        before = self._excluded.get(key)
        self._excluded[key] = (end if before is None else min(end, before[0])), stopped
        if math.isinf(end) and end < 0 and not self.backlog.preemptible and not self.timeline.has_promises:
            self._open_classes.discard(key[0])

    def _candidate(self, entry: Entry, forbidden: Bools | None) -> list[Claim] | None:
        task = entry.task
        if task.gang is not None and task.gang.size > 1:
            return self.gangs.place(task, task.gang, entry.demand, forbidden)
        claim = self._claim_apart(entry, forbidden)
        if claim is None:
            return None
        self.allocator.commit(claim)
        return [claim]

    def _claim_apart(self, entry: Entry, forbidden: Bools | None) -> Claim | None:
        """The best claim on a row with as few tasks of the same `spread` as there is room on; None where none fits."""
        task = entry.task
        beside: Mapping[int, int] = self.roster.spread.get(task.spread, {}) if task.spread is not None else {}
        for most in sorted({0, *beside.values()})[:-1]:
            crowded = np.zeros(len(self.cells), np.bool_) if forbidden is None else forbidden.copy()
            crowded[[row for row, count in beside.items() if count > most]] = True
            if (claim := self.allocator.best_claim(entry.demand, task.organisation, crowded)) is not None:
                return claim
        return self.allocator.best_claim(entry.demand, task.organisation, forbidden)

    def _refusal(self, task: Task, claims: list[Claim]) -> tuple[list[int], Finding] | None:
        """Rows to avoid and why, when a reservation or a quota on the model forbids the claims."""
        if self.timeline.reservations:
            for claim in claims:
                if self.timeline.reserved(claim.row) and not self.timeline.allows(task, claims, claim.row):
                    return [claim.row], Finding(self._behind_cause(task, claim.row))
        bundle = bundle_of_claims(self.cells, claims)
        over = self.book.blocked_by(task, bundle)
        return None if over is None else ([claim.row for claim in claims], Finding(over))

    def _behind_cause(self, task: Task, row: int) -> Cause:
        reservation = self.timeline.earliest_on(row, task)
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
            self.timeline.add_member(member)
            self.places.append(Place(task.id, self.cells.nodes[claim.row].id, claim.slices, number))

    def _wait_behind(self, entry: Entry, stopped: Finding) -> None:
        """Let a task wait that fits but is stopped by a reservation or a quota."""
        behind = stopped.cause.code is CauseCode.BEHIND_RESERVATION
        self.pending.append(Pending(entry, stopped, self.bookings.reserve(entry) if behind else None))

    def _wait_or_preempt(self, entry: Entry) -> None:
        """Decide a task that does not fit: wait for leaving victims, ask for victims, or reserve the earliest start."""
        reservation = self.timeline.reservation_of(entry.task.id)
        if reservation is None or reservation.promised:
            eviction = self._find_victims(entry)
            reservation = self._evict(entry.task, eviction) if eviction is not None else None
        if reservation is None:
            self.pending.append(Pending(entry, None, self.bookings.reserve(entry)))
            return
        cause = Cause(CauseCode.WAITING_FOR_VICTIMS, {"node": self.cells.nodes[reservation.claims[0].row].id})
        self.pending.append(Pending(entry, Finding(cause), reservation))

    def _find_victims(self, entry: Entry) -> Eviction | None:
        if self._evictions <= 0 or not self.preemptor.has_candidates():
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
            self.accounts.charge_share_only(victim.task, victim.bundle, -1)
            self.timeline.mark_leaving(victim.task.id, task.id)
        self.preemptor.mark_asked(eviction.victims)
        self.accounts.charge_share_only(task, bundle_of_claims(self.cells, eviction.claims))
        notice = self.now + self.rules.notice_s
        run = longest_run_s(task)
        self.bookings.release(task)
        start_p90, end = notice + self.rules.save_window_s, self.now + run
        reservation = Reservation(task, eviction.claims, self.now, start_p90, end, emptied=True)
        self.timeline.add(reservation)
        return replace(reservation, start_p50=notice)
