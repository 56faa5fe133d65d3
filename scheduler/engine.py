"""One scheduling pass: `plan(snapshot, now)`. Pure and deterministic; it keeps nothing between calls."""

from collections.abc import Sequence

from scheduler.decisions import Cause, CauseCode, Place, Plan, Wait
from scheduler.explain import Finding, could_ever, why_not
from scheduler.order import queue_order
from scheduler.quota import QuotaBook
from scheduler.state import Host, empty_host, load, pieces_on
from scheduler.types import Slice, Snapshot, Task
from scheduler.validate import problem_with

Spot = tuple[Host, tuple[Slice, ...]]


def plan(snapshot: Snapshot, now: float) -> Plan:
    """Decide every waiting task: placed in full, or exactly one Wait with its cause.

    Order is priority, then the organisation that uses least for its weight, then age. A task that cannot
    start now never holds up the ones behind it. `now` is on the same clock as the snapshot's times.
    """
    return _Pass(snapshot, now).run()


class _Pass:
    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self.snapshot, self.now = snapshot, now
        self.hosts = load(snapshot)
        self.models = {d.id: d.model for node in snapshot.nodes for d in node.devices}
        self.book = QuotaBook(snapshot.queues)
        for member in snapshot.running:
            self._charge(member.task, member.slices)

    def run(self) -> Plan:
        ordered = queue_order(self.snapshot, self.now)
        decisions: list[Place | Wait] = []
        waits = 0
        for task in ordered:
            outcome = self._decide(task)
            if isinstance(outcome, Finding):
                waits += 1
                decisions.append(Wait(task.id, outcome.cause, outcome.funnel, waits, outcome.nearest))
            else:
                decisions += outcome
        return Plan(tuple(decisions))

    def _decide(self, task: Task) -> Finding | list[Place]:
        problem = problem_with(task)
        if problem is not None:
            return Finding(problem)
        size = task.gang.size if task.gang else 1
        minimum = (task.gang.minimum or size) if task.gang else 1
        blocked = self.book.blocked_by(task, minimum)
        if blocked is not None:
            return Finding(blocked)
        spots = self._spots(task, size)
        if len(spots) < minimum:
            for host, pieces in spots:
                host.give_back(task, pieces)
            return self._explain(task, minimum)
        return [self._place(task, spot, member) for member, spot in enumerate(spots)]

    def _spots(self, task: Task, size: int) -> list[Spot]:
        """Claim room for up to `size` members; what is claimed shows in the hosts at once."""
        spots: list[Spot] = []
        while len(spots) < size:
            found = [(host, pieces) for host in self._open(task) if (pieces := pieces_on(host, task)) is not None]
            if not found or self.book.blocked_by(task, len(spots) + 1) is not None:
                break
            spot = min(found, key=lambda pair: _tightness(pair[0], task))
            spot[0].take(task, spot[1])
            spots.append(spot)
        return spots

    def _open(self, task: Task) -> list[Host]:
        return [host for host in self.hosts.values() if _admits(host, task)]

    def _explain(self, task: Task, minimum: int) -> Finding:
        """Why it does not fit; the claims that the attempt made are given back by now."""
        if _never_all_at_once(self.snapshot, task, minimum):
            return Finding(Cause(CauseCode.NEVER_FITS, {"members": minimum}))
        return why_not(list(self.hosts.values()), task)

    def _place(self, task: Task, spot: Spot, member: int) -> Place:
        self._charge(task, spot[1])
        return Place(task.id, spot[0].node.id, spot[1], member)

    def _charge(self, task: Task, slices: Sequence[Slice]) -> None:
        self.book.charge(task, slices, [self.models.get(piece.device_id, "") for piece in slices])


def _admits(host: Host, task: Task) -> bool:
    node = host.node
    wanted = ((task.zone, node.zone), (task.cluster, node.cluster), (task.arch, node.arch))
    return node.schedulable and node.healthy and all(asked in (None, has) for asked, has in wanted)


def _tightness(host: Host, task: Task) -> tuple[int, int, int]:
    """Best fit: keep nodes with cards for tasks that need cards, then the least that would be left."""
    spare_cards = 0 if task.gpu else len(host.cards)
    return spare_cards, sum(max(0, card.core_milli) for card in host.cards), host.cpu_milli


def _never_all_at_once(snapshot: Snapshot, task: Task, minimum: int) -> bool:
    """Whether even the empty cluster has too little room for the whole gang (but room for one member)."""
    if minimum == 1 or not any(could_ever(node, task) for node in snapshot.nodes):
        return False
    room = 0
    for node in snapshot.nodes:
        host = empty_host(node)
        while room < minimum and _admits(host, task) and (pieces := pieces_on(host, task)) is not None:
            host.take(task, pieces)
            room += 1
    return room < minimum
