"""Hard limits along organisation > department > user, counted over what runs and what this pass starts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from scheduler.decisions import Cause, CauseCode
from scheduler.types import ANY_MODEL, WHOLE_MILLI, Mode, Queue, QueueLevel, Slice, Task

Key = tuple[QueueLevel, str, str]
CPU, MEMORY = "cpu_milli", "memory_mib"


class QuotaBook:
    """Use per queue and resource. `blocked_by` names the first limit that a start would cross."""

    def __init__(self, queues: Sequence[Queue]) -> None:
        self._queues: dict[Key, Queue] = {(q.level, q.organisation, q.id): q for q in queues}
        self._used: defaultdict[tuple[Key, str], int] = defaultdict(int)

    def charge(self, task: Task, slices: Sequence[Slice], models: Sequence[str]) -> None:
        """Count one placed member. `models` runs along `slices`."""
        claims = [(CPU, task.cpu_milli), (MEMORY, task.memory_mib)]
        for piece, model in zip(slices, models, strict=True):
            claims += [(model, piece.core_milli), (ANY_MODEL, piece.core_milli)]
        for queue in self._path(task):
            for resource, amount in claims:
                self._used[_key(queue), resource] += amount

    def blocked_by(self, task: Task, members: int) -> Cause | None:
        """The limit that starting `members` members would cross, nearest to the user first."""
        demand = _demand(task, members)
        for queue in self._path(task):
            for resource, amount in demand.items():
                limit = _limit(queue, resource)
                used = self._used[_key(queue), resource]
                if limit is not None and amount and used + amount > limit:
                    return _quota_cause(queue, resource, used, limit, amount)
        return None

    def _path(self, task: Task) -> Iterator[Queue]:
        user = self._queues.get((QueueLevel.USER, task.organisation, task.user))
        if user is not None:
            yield user
        department, seen = task.department, set[str]()
        while department and department not in seen:
            seen.add(department)
            queue = self._queues.get((QueueLevel.DEPARTMENT, task.organisation, department))
            if queue is None:
                break
            yield queue
            department = queue.parent
        organisation = self._queues.get((QueueLevel.ORGANISATION, task.organisation, task.organisation))
        if organisation is not None:
            yield organisation


def _key(queue: Queue) -> Key:
    return queue.level, queue.organisation, queue.id


def _limit(queue: Queue, resource: str) -> int | None:
    if resource == CPU:
        return queue.limit.cpu_milli
    return queue.limit.memory_mib if resource == MEMORY else queue.limit.gpu_milli.get(resource)


def _demand(task: Task, members: int) -> dict[str, int]:
    demand = {CPU: task.cpu_milli * members, MEMORY: task.memory_mib * members}
    if task.gpu is not None:
        # The compute of a MIG partition depends on the card it lands on; it is counted once it has one.
        each = 0 if task.gpu.mode is Mode.MIG else WHOLE_MILLI if task.gpu.mode is Mode.WHOLE else task.gpu.core_milli
        demand[ANY_MODEL] = each * task.gpu.count * members
        if task.gpu.model is not None:
            demand[task.gpu.model] = demand[ANY_MODEL]
    return demand


def _quota_cause(queue: Queue, resource: str, used: int, limit: int, asked: int) -> Cause:
    params = {"level": queue.level.value, "queue": queue.id, "resource": resource}
    return Cause(CauseCode.QUOTA, {**params, "used": used, "limit": limit, "asked": asked})
