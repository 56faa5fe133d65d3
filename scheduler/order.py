"""Who goes next."""

from collections import defaultdict

from scheduler.types import Queue, QueueLevel, Snapshot, Task


def queue_order(snapshot: Snapshot, now: float) -> list[Task]:
    """Waiting tasks: priority, requeued first, the organisation with the least use for its weight, age, id."""
    share = _shares(snapshot)
    return sorted(
        snapshot.waiting,
        key=lambda t: (-t.priority, not t.requeued, share[t.organisation], t.submitted_at, t.id),
    )


def _shares(snapshot: Snapshot) -> defaultdict[str, float]:
    """GPU-milli in use per unit of weight, by organisation."""
    used: defaultdict[str, float] = defaultdict(float)
    for member in snapshot.running:
        used[member.task.organisation] += sum(piece.core_milli for piece in member.slices)
    for organisation, weight in _weights(snapshot.queues).items():
        used[organisation] /= weight
    return used


def _weights(queues: tuple[Queue, ...]) -> dict[str, float]:
    return {q.id: q.weight for q in queues if q.level is QueueLevel.ORGANISATION and q.weight > 0}
