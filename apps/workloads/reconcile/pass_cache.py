"""What the scheduler remembers from one pass to the next, in the process that runs it. Losing it costs time only."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from apps.workloads.models import SchedulerEpoch
from apps.workloads.reconcile.explanations import Sayings
from apps.workloads.reconcile.incremental_engine import KeptWorld
from apps.workloads.reconcile.queue_cache import Line

# Which pass wrote last: its number and when, both written in its own transaction.
Epoch = tuple[int, datetime] | None


@dataclass(slots=True)
class Memory:
    line: Line = field(default_factory=Line)
    worlds: dict[bool, KeptWorld] = field(default_factory=dict)
    sayings: Sayings = field(default_factory=Sayings)
    # Tasks whose first estimate was kept already.
    noted: set[str] = field(default_factory=set)

    def forget(self, started: Iterable[str]) -> None:
        """When these wait again, that is another stay in the queue."""
        for task in started:
            self.sayings.forget(task)
            self.noted.discard(task)

    def tidy(self) -> None:
        """Drop what is known of tasks that were cancelled, now and then."""
        if len(self.sayings) > 2 * len(self.line) + 1000:
            self.sayings.keep_only(self.line.ids())
            self.noted &= self.line.ids()


@dataclass(slots=True)
class _Shelf:
    epoch: Epoch = None
    memory: Memory | None = None


_shelf = _Shelf()


def borrow(epoch: Epoch) -> Memory:
    """What the pass of this epoch left, if it was one of this process, else a fresh memory. Call under the lock.

    Until it is put back there is none, so that a pass that does not commit leaves nothing behind.
    """
    memory = _shelf.memory if _shelf.epoch == epoch and epoch is not None else None
    _shelf.memory = None
    return memory or Memory()


def put_back(memory: Memory, epoch: Epoch) -> None:
    """After the transaction of the pass has committed."""
    _shelf.epoch, _shelf.memory = epoch, memory


def newest() -> Epoch:
    """The pass that wrote last, of whichever process."""
    row = SchedulerEpoch.objects.filter(pk=1).values_list("number", "at").first()
    return (row[0], row[1]) if row else None
