"""From tasks that wait to what is said about them: cause, funnel, nearest miss, holders, alternatives, start."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scheduler.allocator import Allocator
from scheduler.catalogue import Entry
from scheduler.decisions import Cause, CauseCode, Wait
from scheduler.fit_diagnosis import Finding, Funnel
from scheduler.gangs import fits_empty
from scheduler.preempt import Preemptor
from scheduler.reservations import Reservation
from scheduler.rules import Rules
from scheduler.timeline import Future
from scheduler.wait_context import alternatives, holders

LACKING = {CauseCode.GANG, CauseCode.CPU, CauseCode.MEMORY, CauseCode.DEVICES, CauseCode.SLICES}
UNCHANGEABLE = {CauseCode.BAD_REQUEST, CauseCode.QUOTA}


@dataclass(frozen=True, slots=True)
class Pending:
    """A task that waits. No finding: its class is explained at the end of the pass, against what is then free."""

    entry: Entry
    finding: Finding | None = None
    reservation: Reservation | None = None


class Explainer:
    """Words for one pass. Findings are per request class, so a long queue of few classes costs little."""

    def __init__(self, allocator: Allocator, future: Future, preemptor: Preemptor, rules: Rules) -> None:
        self.allocator, self.cells, self.future = allocator, allocator.cells, future
        self.preemptor, self.rules, self.funnel = preemptor, rules, Funnel(allocator.cells)

    def waits(self, queue: Sequence[Pending]) -> list[Wait]:
        """One Wait per pending task, positions from 1 in the order given."""
        findings: dict[int, Finding] = {}
        waits = []
        for position, pending in enumerate(queue, start=1):
            finding = pending.finding or findings.get(pending.entry.key)
            if finding is None:
                finding = findings[pending.entry.key] = self._finding(pending.entry)
            waits.append(self._wait(pending, finding, position))
        return waits

    def _finding(self, entry: Entry) -> Finding:
        finding, least = self.funnel.finding(self.allocator.column(entry.demand).kind), entry.least
        checked = least > 1 and finding.cause.code in LACKING
        if checked and not fits_empty(self.cells, entry.demand, least, self.funnel.ever(entry.demand)):
            return Finding(Cause(CauseCode.NEVER_FITS, {"members": least}), finding.funnel)
        if finding.cause.code is CauseCode.GANG:
            return replace(finding, cause=Cause(CauseCode.GANG, {**finding.cause.params, "members": least}))
        return finding

    def _wait(self, pending: Pending, finding: Finding, position: int) -> Wait:
        entry, kept = pending.entry, pending.reservation
        row = self._row_to_blame(finding, kept)
        near = row is not None and position <= self.rules.explain_holders
        other = position <= self.rules.explain_alternatives and finding.cause.code not in UNCHANGEABLE
        return Wait(
            entry.task.id,
            finding.cause,
            finding.funnel,
            position,
            finding.nearest,
            kept.start_p50 if kept is not None else None,
            max(kept.start_p50, kept.start_p90) if kept is not None else None,
            holders(entry.task, row, self.future, self.preemptor) if near and row is not None else (),
            alternatives(entry.demand, self.allocator) if other else (),
            self._nodes_of(kept) if kept is not None else (),
            kept is not None and kept.guessed and not kept.holds,
        )

    def _nodes_of(self, kept: Reservation) -> tuple[str, ...]:
        return tuple(self.cells.nodes[row].id for row in dict.fromkeys(claim.row for claim in kept.claims))

    def _row_to_blame(self, finding: Finding, kept: Reservation | None) -> int | None:
        if kept is not None:
            return kept.claims[0].row
        return self.cells.row_of.get(finding.nearest.node_id) if finding.nearest is not None else None
