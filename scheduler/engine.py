"""The scheduler's state between passes, and one pass: `plan(snapshot, now)`. Pure and deterministic."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from scheduler.accounts import Accounts
from scheduler.allocator import Allocator
from scheduler.backlog import Backlog
from scheduler.catalogue import Catalogue
from scheduler.cells import Cells, Claim
from scheduler.decisions import Cause, Plan, Wait
from scheduler.demand import demand_of
from scheduler.fit_diagnosis import Funnel
from scheduler.inquiry import Answers, Inquiry, alike
from scheduler.mix import mix_of
from scheduler.passes import Pass
from scheduler.roster import Roster, member_of
from scheduler.rules import DEFAULT_RULES, Rules
from scheduler.scorers import ByPotential
from scheduler.shares import capacity
from scheduler.standstill import standing_still
from scheduler.types import Mix, Node, Queue, Running, Snapshot, Task
from scheduler.validate import problem_with

FORGET_EVERY = 64
P = TypeVar("P", bound=Pass)


class Engine:
    """Free capacity, running members and use per organisation. Load it once, then report starts and ends.

    `plan` leaves it unchanged, so a pass costs in proportion to what has changed and what waits, not to what runs.
    Nodes are fixed: a change of nodes or modes needs a new engine.
    """

    def __init__(self, nodes: Sequence[Node], running: Iterable[Running] = (), mix: Mix | None = None) -> None:
        self.cells = Cells(nodes)
        self.allocator = Allocator(self.cells, ByPotential(self.cells, mix), mix)
        self.catalogue = Catalogue()
        self.roster = Roster()
        self.accounts = Accounts(capacity(self.cells))
        self.backlog = Backlog(self.catalogue, self.accounts.paths)
        self.checkpoints: dict[str, float] = {}
        self._passes = 0
        self.start(running)

    def start(self, running: Iterable[Running]) -> None:
        """Add members that now run. Members on unknown nodes are skipped."""
        for one in running:
            row = self.cells.row_of.get(one.node_id)
            if row is not None:
                task = one.task
                claim = Claim(row, task.cpu_milli, task.memory_mib, one.slices, task.organisation)
                member = member_of(self.cells, task, claim, one.started_at, one.held_for)
                self.cells.take(claim)
                self.roster.add(member)
                self.accounts.charge(task, member.bundle)
                if one.last_checkpoint_at is not None:
                    self.checkpoints[task.id] = one.last_checkpoint_at

    def end(self, task_id: str) -> None:
        """Remove all members of the task. Unknown tasks are ignored."""
        self.checkpoints.pop(task_id, None)
        for member in self.roster.drop(task_id):
            self.cells.give_back(member.claim)
            self.accounts.charge(member.task, member.bundle, -1)

    def mark_leaving(self, task_id: str, for_task_id: str) -> None:
        """Record that the task has been asked to give way; its capacity is kept for the other task."""
        self.roster.mark_leaving(task_id, for_task_id)

    def record_checkpoint(self, task_id: str, at: float) -> None:
        """Record the time of the task's last checkpoint."""
        if task_id in self.roster.of_task:
            self.checkpoints[task_id] = at
            self.roster.changed()

    def obstacle(self, task: Task) -> Cause | None:
        """Why no node could ever run one member of the task with its cards in their present modes; else None."""
        return problem_with(task) or Funnel(self.cells).obstacle(demand_of(task))

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
        with self._passing(Pass, waiting, now, queues, rules, promised or {}) as one:
            return one.run(holds or {})

    def ask(
        self,
        waiting: Sequence[Task],
        asked: Sequence[Task],
        now: float,
        queues: Sequence[Queue] = (),
        holds: Mapping[str, Sequence[str]] | None = None,
        rules: Rules = DEFAULT_RULES,
        promised: Mapping[str, Sequence[str]] | None = None,
    ) -> Answers:
        """What would become of each of `asked`, were it alone submitted beside `waiting`, by its id: see `inquiry`.

        Told as of its turn: what comes later in the queue takes no room from it.
        """
        found = Answers()
        for group in alike(asked):
            with self._passing(Inquiry, (*waiting, *group), now, queues, rules, promised or {}) as one:
                found |= one.answers(holds or {}, {task.id for task in group})
        return found

    @contextmanager
    def _passing(
        self,
        kind: type[P],
        waiting: Sequence[Task],
        now: float,
        queues: Sequence[Queue],
        rules: Rules,
        promised: Mapping[str, Sequence[str]],
    ) -> Iterator[P]:
        """A pass over these tasks; whatever it decides is rolled back."""
        if self.accounts.set_queues(queues, self.roster):
            self.backlog.clear()
        self.backlog.sync(waiting, rules.patience)
        one = kind(self.allocator, self.backlog, self.roster, self.accounts, self.checkpoints, now, rules, promised)
        self.roster.begin()
        self.accounts.begin()
        try:
            yield one
        finally:
            self.allocator.undo(one.committed)
            self.accounts.rollback()
            self.roster.rollback()
            self._forget_gone_tasks(waiting)

    def standing_still(self, waiting: Sequence[Task], waits: Sequence[Wait], now: float) -> tuple[str, ...]:
        """Tasks left waiting beside free room by a pass that placed nobody: see `standstill`."""
        tasks = {task.id: task for task in waiting}
        return standing_still(self.allocator, self.roster, waits, tasks, now)

    def _forget_gone_tasks(self, waiting: Sequence[Task]) -> None:
        """Every FORGET_EVERY passes, drop tasks that no longer wait: the check costs in proportion to the queue."""
        self._passes += 1
        if self._passes % FORGET_EVERY == 0:
            self.catalogue.retain(task.id for task in waiting)


def plan(snapshot: Snapshot, now: float, rules: Rules = DEFAULT_RULES) -> Plan:
    """Decide every waiting task of the snapshot: placed in full, or exactly one Wait with its cause.

    `now` is on the same clock as the snapshot's times. Without a mix, it uses that of running and waiting tasks.
    """
    tasks = [member.task for member in snapshot.running] + list(snapshot.waiting)
    engine = Engine(snapshot.nodes, snapshot.running, snapshot.mix or mix_of(tasks))
    return engine.plan(snapshot.waiting, now, snapshot.queues, snapshot.holds, rules, snapshot.promised)
