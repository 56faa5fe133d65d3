"""The scheduler's state between passes, and one pass: `plan(snapshot, now)`. Pure and deterministic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from scheduler.allocator import Allocator
from scheduler.catalogue import Catalogue
from scheduler.cells import Cells, Claim
from scheduler.decisions import Plan
from scheduler.mix import mix_of
from scheduler.order import Paths
from scheduler.passes import Pass
from scheduler.quota import QuotaBook
from scheduler.rules import DEFAULT_RULES, Rules
from scheduler.scorers import ByPotential
from scheduler.shares import Shares, capacity, fraction, taken_by
from scheduler.timeline import member_of
from scheduler.types import Mix, Node, Queue, Running, Snapshot, Task


@dataclass(frozen=True, slots=True)
class Placed:
    """A member that runs, with what it takes worked out once."""

    running: Running
    claim: Claim
    bundle: Mapping[str, int]
    fraction: float


class Engine:
    """Free capacity and what runs. Load it once, then tell it what started and ended; `plan` changes nothing.

    Nodes are fixed: a change of nodes or modes needs a new engine.
    """

    def __init__(self, nodes: Sequence[Node], running: Iterable[Running] = (), mix: Mix | None = None) -> None:
        self.cells = Cells(nodes)
        self.allocator = Allocator(self.cells, ByPotential(self.cells, mix), mix)
        self.total = capacity(self.cells)
        self.catalogue = Catalogue()
        self._running: dict[str, list[Placed]] = {}
        self.start(running)

    def start(self, running: Iterable[Running]) -> None:
        """Members that now run. One on a node that is not here is left out."""
        for member in running:
            row = self.cells.row_of.get(member.node_id)
            if row is not None:
                task = member.task
                claim = Claim(row, task.cpu_milli, task.memory_mib, member.slices, task.organisation)
                bundle = taken_by(self.cells, claim)
                self._running.setdefault(task.id, []).append(
                    Placed(member, claim, bundle, fraction(bundle, self.total))
                )
                self.cells.take(claim)

    def end(self, task_id: str) -> None:
        """All members of the task are gone. Unknown tasks are ignored."""
        for placed in self._running.pop(task_id, []):
            self.cells.give_back(placed.claim)

    def leaving(self, task_id: str, for_task_id: str) -> None:
        """The task has been asked to give way; its cells are kept for the other one."""
        members = self._running.get(task_id, [])
        members[:] = [replace(m, running=replace(m.running, held_for=for_task_id)) for m in members]

    def plan(
        self,
        waiting: Sequence[Task],
        now: float,
        queues: Sequence[Queue] = (),
        holds: Mapping[str, Sequence[str]] | None = None,
        rules: Rules = DEFAULT_RULES,
        promised: Mapping[str, Sequence[str]] | None = None,
    ) -> Plan:
        """Decide every waiting task against what runs now."""
        shares, paths, book = Shares(self.total, queues), Paths(queues), QuotaBook(queues)
        members, checkpoints = [], {}
        for placed in chain.from_iterable(self._running.values()):
            running = placed.running
            shares.add(running.task.organisation, placed.bundle)
            paths.add(paths.of(running.task), placed.fraction)
            book.charge(running.task, placed.bundle)
            members.append(member_of(running.task, placed.claim, running.started_at, now, running.held_for))
            if running.last_checkpoint_at is not None:
                checkpoints[running.task.id] = running.last_checkpoint_at
        one = Pass(self.allocator, self.catalogue, members, shares, paths, book, now, rules)
        try:
            return one.run(waiting, checkpoints, holds or {}, promised or {})
        finally:
            self.allocator.undo(one.committed)
            self.catalogue.forget(task.id for task in waiting)


def plan(snapshot: Snapshot, now: float, rules: Rules = DEFAULT_RULES) -> Plan:
    """Decide every waiting task of the snapshot: placed in full, or exactly one Wait with its cause.

    `now` is on the same clock as the snapshot's times. Without a mix, the typical one of what runs and waits is used.
    """
    tasks = [member.task for member in snapshot.running] + list(snapshot.waiting)
    engine = Engine(snapshot.nodes, snapshot.running, snapshot.mix or mix_of(tasks))
    return engine.plan(snapshot.waiting, now, snapshot.queues, snapshot.holds, rules, snapshot.promised)
