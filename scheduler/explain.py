"""Explain waiting tasks: cause, funnel, nearest miss, holders, alternatives and expected start."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduler.allocator import Allocator
from scheduler.catalogue import Entry
from scheduler.columns import matching_nodes
from scheduler.decisions import Ahead, Cause, CauseCode, Wait
from scheduler.demand import Demand
from scheduler.fit_diagnosis import Finding, Funnel
from scheduler.gangs import gang_fits_empty_cluster
from scheduler.preempt import Preemptor
from scheduler.queue_ahead import Waiting, ahead_of_each
from scheduler.reservations import Reservation
from scheduler.rules import Rules
from scheduler.timeline import Timeline
from scheduler.wait_context import alternatives, holders

# How many of the nodes with RDMA devices are named to who waits for one of them.
MOST_NAMED = 6
LACKING = {CauseCode.GANG, CauseCode.CPU, CauseCode.MEMORY, CauseCode.DEVICES, CauseCode.SLICES}
UNCHANGEABLE = {CauseCode.BAD_REQUEST, CauseCode.QUOTA}


def _apart(apart: bool) -> dict[str, bool]:
    """Whether it is for want of a network between the nodes that the members do not start."""
    return {"apart": True} if apart else {}


@dataclass(frozen=True, slots=True)
class Pending:
    """A task that waits. Without a finding, its class is explained at the end of the pass, with what is free then."""

    entry: Entry
    finding: Finding | None = None
    reservation: Reservation | None = None


class Explainer:
    """Explanations of one pass. Findings are per request class, so a long queue of few classes costs little."""

    def __init__(self, allocator: Allocator, timeline: Timeline, preemptor: Preemptor, rules: Rules) -> None:
        self.allocator, self.cells, self.timeline = allocator, allocator.cells, timeline
        self.preemptor, self.rules, self.funnel = preemptor, rules, Funnel(allocator.cells)

    def waits(self, queue: Sequence[Pending]) -> list[Wait]:
        """One Wait per pending task, positions from 1 in the order given."""
        explained = enumerate(self._with_ahead(queue), start=1)
        return [
            replace(self._wait(one, finding, position), ahead=ahead) for position, (one, finding, ahead) in explained
        ]

    def last_wait(self, queue: Sequence[Pending]) -> Wait:
        """The Wait of the last pending task alone, as `waits` has it."""
        last, finding, ahead = self._with_ahead(queue)[-1]
        return replace(self._wait(last, finding, len(queue)), ahead=ahead)

    def _with_ahead(self, queue: Sequence[Pending]) -> list[tuple[Pending, Finding, Ahead | None]]:
        findings: dict[int, Finding] = {}
        found = []
        for pending in queue:
            finding = pending.finding or findings.get(pending.entry.key)
            if finding is None:
                finding = findings[pending.entry.key] = self._finding(pending.entry)
            found.append(finding)
        waiting = [
            Waiting(each.entry.demand, each.entry.least, finding.cause.code)
            for each, finding in zip(queue, found, strict=True)
        ]
        return list(zip(queue, found, ahead_of_each(waiting, self._free_cards), strict=True))

    def _free_cards(self, demand: Demand) -> int:
        """Cards of open nodes that could serve the demand, and are free."""
        kind = self.allocator.column(demand).kind
        rows = np.flatnonzero(kind.allowed)
        return 0 if kind.cards is None else int(kind.cards.fitting_cards(rows).sum())

    def _finding(self, entry: Entry) -> Finding:
        finding, least = self.funnel.finding(self.allocator.column(entry.demand).kind), entry.least
        if least > 1 and finding.cause.code in LACKING:
            ever = self.funnel.fits_when_empty(entry.demand)
            if not gang_fits_empty_cluster(self.cells, entry.demand, least, ever):
                apart = gang_fits_empty_cluster(self.cells, entry.demand, least, ever, joined=True)
                return Finding(Cause(CauseCode.NEVER_FITS, {"members": least, **_apart(apart)}), finding.funnel)
        if finding.cause.code is CauseCode.GANG:
            rows = np.flatnonzero(self.allocator.column(entry.demand).kind.allowed)
            apart = not any(self.cells.nodes[row].joined for row in rows.tolist())
            params = {**finding.cause.params, "members": least, **_apart(apart)}
            return replace(finding, cause=Cause(CauseCode.GANG, params))
        return finding

    def _wait(self, pending: Pending, finding: Finding, position: int) -> Wait:
        entry, reservation = pending.entry, pending.reservation
        row = self._row_to_blame(finding, reservation)
        near = row is not None and position <= self.rules.explain_holders
        other = position <= self.rules.explain_alternatives and finding.cause.code not in UNCHANGEABLE
        return Wait(
            entry.task.id,
            self._with_rdma_nodes(finding.cause, entry.demand),
            finding.funnel,
            position,
            finding.nearest,
            reservation.start_p50 if reservation is not None else None,
            max(reservation.start_p50, reservation.start_p90) if reservation is not None else None,
            holders(entry.task, row, self.timeline, self.preemptor) if near and row is not None else (),
            alternatives(entry.demand, self.allocator) if other else (),
            self._nodes_of(reservation) if reservation is not None else (),
            reservation is not None and reservation.guessed and not reservation.holds,
            is_start_known=reservation is not None and reservation.estimated,
        )

    def _with_rdma_nodes(self, cause: Cause, demand: Demand) -> Cause:
        """Who asks for RDMA is told which of the nodes that it may enter have it, at most MOST_NAMED of them."""
        if not demand.rdma:
            return cause
        rows = np.flatnonzero(matching_nodes(self.cells, demand) & self.cells.rdma_active).tolist()
        named = "|".join(self.cells.nodes[row].id for row in rows[:MOST_NAMED])
        return replace(cause, params={**cause.params, "rdma_nodes": named, "rdma_count": len(rows)})

    def _nodes_of(self, reservation: Reservation) -> tuple[str, ...]:
        return tuple(self.cells.nodes[row].id for row in dict.fromkeys(claim.row for claim in reservation.claims))

    def _row_to_blame(self, finding: Finding, reservation: Reservation | None) -> int | None:
        if reservation is not None:
            return reservation.claims[0].row
        return self.cells.row_of.get(finding.nearest.node_id) if finding.nearest is not None else None
