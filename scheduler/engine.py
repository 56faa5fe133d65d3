"""The scheduler's state between passes, and one pass: `plan(snapshot, now)`. Pure and deterministic."""

from collections.abc import Iterable, Mapping, Sequence

from scheduler.accounts import Accounts
from scheduler.allocator import Allocator
from scheduler.backlog import Backlog
from scheduler.catalogue import Catalogue
from scheduler.cells import Cells, Claim
from scheduler.decisions import Cause, Plan, Wait
from scheduler.demand import demand_of
from scheduler.fit_diagnosis import Funnel
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


class Engine:
    """Free capacity, what runs, and who holds how much. Load it once, then tell it what started and ended.

    `plan` leaves it as it was, so a pass costs what has changed since the last one and what waits, not what runs.
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
        """Members that now run. One on a node that is not here is left out."""
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
        """All members of the task are gone. Unknown tasks are ignored."""
        self.checkpoints.pop(task_id, None)
        for member in self.roster.drop(task_id):
            self.cells.give_back(member.claim)
            self.accounts.charge(member.task, member.bundle, -1)

    def leaving(self, task_id: str, for_task_id: str) -> None:
        """The task has been asked to give way; its cells are kept for the other one."""
        self.roster.leave(task_id, for_task_id)

    def saved(self, task_id: str, at: float) -> None:
        """The task has written a checkpoint."""
        if task_id in self.roster.of_task:
            self.checkpoints[task_id] = at

    def obstacle(self, task: Task) -> Cause | None:
        """Why no node could ever run one member of it, as its cards are set; None where one could."""
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
        if self.accounts.govern(queues, self.roster):
            self.backlog.clear()
        self.backlog.follow(waiting, rules.patience)
        one = Pass(
            self.allocator, self.backlog, self.roster, self.accounts, self.checkpoints, now, rules, promised or {}
        )
        self.roster.begin()
        self.accounts.begin()
        try:
            return one.run(holds or {})
        finally:
            self.allocator.undo(one.committed)
            self.accounts.rollback()
            self.roster.rollback()
            self._tidy(waiting)

    def standing_still(self, waiting: Sequence[Task], waits: Sequence[Wait], now: float) -> tuple[str, ...]:
        """Tasks that a pass which placed nobody left waiting beside free room: see `standstill`."""
        tasks = {task.id: task for task in waiting}
        return standing_still(self.allocator, self.roster, waits, tasks, now)

    def _tidy(self, waiting: Sequence[Task]) -> None:
        """Forget tasks that wait no longer, now and then: asking costs as much as the queue is long."""
        self._passes += 1
        if self._passes % FORGET_EVERY == 0:
            self.catalogue.forget(task.id for task in waiting)


def plan(snapshot: Snapshot, now: float, rules: Rules = DEFAULT_RULES) -> Plan:
    """Decide every waiting task of the snapshot: placed in full, or exactly one Wait with its cause.

    `now` is on the same clock as the snapshot's times. Without a mix, the typical one of what runs and waits is used.
    """
    tasks = [member.task for member in snapshot.running] + list(snapshot.waiting)
    engine = Engine(snapshot.nodes, snapshot.running, snapshot.mix or mix_of(tasks))
    return engine.plan(snapshot.waiting, now, snapshot.queues, snapshot.holds, rules, snapshot.promised)
