"""What one scheduling pass leaves to the next in the same process. Losing it costs time, never correctness."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from apps.workloads.models import SchedulerEpoch
from apps.workloads.reconcile.explanations import ExplanationCache
from apps.workloads.reconcile.incremental_engine import LiveWorld
from apps.workloads.reconcile.queue_cache import QueueCache

# Which pass wrote last: its number and when, both written in its own transaction.
Epoch = tuple[int, datetime] | None


@dataclass(slots=True)
class PassCache:
    """The queue, an engine for each world, what was last explained, and tasks whose first estimate is recorded."""

    queue: QueueCache = field(default_factory=QueueCache)
    worlds: dict[bool, LiveWorld] = field(default_factory=dict)
    explanations: ExplanationCache = field(default_factory=ExplanationCache)
    noted: set[str] = field(default_factory=set)

    def forget(self, started: Iterable[str]) -> None:
        """Forget tasks that have started: when they wait again, that is another stay in the queue."""
        for task in started:
            self.explanations.forget(task)
            self.noted.discard(task)

    def tidy(self) -> None:
        """Drop tasks that were cancelled, once they are many."""
        if len(self.explanations) > 2 * len(self.queue) + 1000:
            self.explanations.keep_only(self.queue.ids())
            self.noted &= self.queue.ids()


@dataclass(slots=True)
class _Shelf:
    epoch: Epoch = None
    memory: PassCache | None = None


_shelf = _Shelf()


def take_cache(epoch: Epoch) -> PassCache:
    """The cache left by the pass of this epoch if this process ran it, else an empty one. Call under the lock.

    It is gone until `return_cache`, so a pass that does not commit leaves nothing behind.
    """
    memory = _shelf.memory if _shelf.epoch == epoch and epoch is not None else None
    _shelf.memory = None
    return memory or PassCache()


def return_cache(memory: PassCache, epoch: Epoch) -> None:
    """Keep it for the next pass; call after this one has committed."""
    _shelf.epoch, _shelf.memory = epoch, memory


def newest_epoch() -> Epoch:
    """The latest pass that wrote decisions, of any process."""
    row = SchedulerEpoch.objects.filter(pk=1).values_list("number", "at").first()
    return (row[0], row[1]) if row else None
