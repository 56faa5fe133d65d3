"""Hard limits along organisation > department > user, over running members and those this pass starts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from scheduler.decisions import Cause, CauseCode
from scheduler.shares import amount_of
from scheduler.types import Amount, Queue, QueueLevel, Task

Key = tuple[QueueLevel, str, str]


class QuotaBook:
    """Use per limited queue and resource. `blocked_by` names the first limit that a start would cross."""

    def __init__(self, queues: Sequence[Queue] = ()) -> None:
        self._queues: dict[Key, Queue] = {}
        self._limited = False
        self._used: defaultdict[tuple[Key, str], int] = defaultdict(int)
        self.set_queues(queues)

    def set_queues(self, queues: Sequence[Queue]) -> bool:
        """Use these limits; True if use is counted along other queues than before and must be counted again."""
        before = self._limited, {key: queue.parent for key, queue in self._queues.items()}
        self._queues = {(q.level, q.organisation, q.id): q for q in queues}
        self._limited = any(_limits(queue.limit) for queue in queues)
        if before == (self._limited, {key: queue.parent for key, queue in self._queues.items()}):
            return False
        self._used.clear()
        return True

    def charge(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Count one placed member by resource."""
        if not self._limited:
            return
        for queue in self._path(task):
            for resource, amount in bundle.items():
                self._used[_key(queue), resource] += sign * amount

    def blocked_by(self, task: Task, bundle: Mapping[str, int]) -> Cause | None:
        """The limit that adding this bundle would cross, nearest to the user first."""
        if not self._limited:
            return None
        for queue in self._path(task):
            for resource, amount in bundle.items():
                limit = amount_of(queue.limit, resource)
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


def _limits(amount: Amount) -> bool:
    return amount.cpu_milli is not None or amount.memory_mib is not None or bool(amount.gpu_milli)


def _key(queue: Queue) -> Key:
    return queue.level, queue.organisation, queue.id


def _quota_cause(queue: Queue, resource: str, used: int, limit: int, asked: int) -> Cause:
    params = {"level": queue.level.value, "queue": queue.id, "resource": resource}
    return Cause(CauseCode.QUOTA, {**params, "used": used, "limit": limit, "asked": asked})
