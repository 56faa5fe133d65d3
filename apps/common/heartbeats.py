"""Each process proves that it works by renewing a row. Having a process id proves nothing.

The row is written from a thread beside the work, but only on evidence from inside it: an event loop that has turned,
tasks that have run. A loop that is blocked and a pool whose threads are all stuck give none, and the row grows old.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import close_old_connections, connection
from django.db.models import F
from django.db.models.functions import Now

from apps.common.models import ProcessHeartbeat, ProcessReplacement

log = logging.getLogger(__name__)

INTERVAL_S = 2.0
MISSED, KEPT = timedelta(hours=1), timedelta(days=90)

# Returns whether the process has worked since the last call.
Evidence = Callable[[], bool]


class Heartbeat:
    """Renews this process's row every two seconds as long as there is evidence of work."""

    def __init__(self, kind: str, evidence: Evidence = lambda: True) -> None:
        self.kind, self.evidence = kind, evidence
        self._known = False
        self._beaten_at = float("-inf")

    def start(self) -> None:
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(INTERVAL_S)
            try:
                if self.evidence():
                    self.beat()
            except Exception:  # ends the thread otherwise, and a process that works would be replaced
                log.exception("the evidence of this process could not be taken")

    def beat_if_due(self) -> None:
        """For a loop without a heartbeat thread, because it forks: call it after each turn."""
        if time.monotonic() - self._beaten_at >= INTERVAL_S:
            self._beaten_at = time.monotonic()
            self.beat()

    def beat(self) -> None:
        """Write the row. While the database is down no process can, and the supervisor takes that into account."""
        try:
            close_old_connections()
            self._write()
        except DatabaseError as error:
            connection.close()
            log.warning("the heartbeat could not be written: %s", str(error).partition("\n")[0])

    def _write(self) -> None:
        mine = ProcessHeartbeat.objects.filter(kind=self.kind, instance=settings.PLSTACK_INSTANCE)
        if self._known and mine.update(beats=F("beats") + 1, beat_at=Now(), pid=os.getpid()):
            return
        mine.delete()  # left by the process before this one
        row = ProcessHeartbeat(kind=self.kind, instance=settings.PLSTACK_INSTANCE, pid=os.getpid())
        ProcessHeartbeat.objects.bulk_create([row], ignore_conflicts=True)
        self._known = True


def forget_old() -> int:
    """Delete rows of containers gone for an hour if another of their kind works; returns how many."""
    fresh = ProcessHeartbeat.objects.filter(beat_at__gt=Now() - MISSED).values("kind")
    gone, _by_model = ProcessHeartbeat.objects.filter(beat_at__lt=Now() - MISSED, kind__in=fresh).delete()
    old, _by_model = ProcessReplacement.objects.filter(at__lt=Now() - KEPT).delete()
    return gone + old


class WorkEvidence:
    """Evidence of a process that calls `done` after each piece of work."""

    def __init__(self) -> None:
        self._something = False

    def done(self) -> None:
        self._something = True

    def __call__(self) -> bool:
        something, self._something = self._something, False
        return something


class LoopEvidence(WorkEvidence):
    """Evidence that an event loop still turns; `serves` may check more than that."""

    def __init__(self, serves: Evidence = lambda: True) -> None:
        super().__init__()
        self._serves = serves

    async def turn_forever(self) -> None:
        while True:
            self.done()
            await asyncio.sleep(INTERVAL_S / 2)

    def __call__(self) -> bool:
        return super().__call__() and self._serves()


class ThreadActivity:
    """Whether threads get scheduled: one that sleeps in a system call does not, one that copies or computes does."""

    def __init__(self) -> None:
        self._switches: dict[int, int] = {}

    def has_run(self, threads: Iterable[int]) -> bool:
        """Whether one of these threads (kernel ids) has run since the last call, or is new."""
        switches = {thread: _context_switches(thread) for thread in threads}
        before, self._switches = self._switches, switches
        return any(before.get(thread) != count for thread, count in switches.items())


def _context_switches(thread: int) -> int:
    try:
        status = Path(f"/proc/self/task/{thread}/status").read_text()
    except OSError:  # it has ended
        return -1
    return sum(int(line.split()[1]) for line in status.splitlines() if "voluntary_ctxt_switches:" in line)


@dataclass(frozen=True, slots=True)
class _Running:
    thread: int
    since: float


class QueueEvidence:
    """Evidence of a task worker: every one of its queues has had a task run.

    Where all threads are occupied no queue can be served; then it is enough that one of them moves, so that nobody is
    killed over a long copy. A task that has run for `LONGEST_S` no longer counts.
    """

    LONGEST_S = 900.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: frozenset[str] = frozenset()
        self._threads = 1
        self._served: set[str] = set()
        self._running: dict[object, _Running] = {}
        self._movement = ThreadActivity()

    def expect(self, queues: Iterable[str], threads: int) -> None:
        """Declare which queues this process's worker consumes, and with how many threads."""
        self._queues, self._threads = frozenset(queues), threads

    @contextmanager
    def running(self, queue: str) -> Iterator[None]:
        key = object()
        with self._lock:
            self._running[key] = _Running(threading.get_native_id(), time.monotonic())
        try:
            yield
        finally:
            with self._lock:
                del self._running[key]
                self._served.add(queue)

    def __call__(self) -> bool:
        with self._lock:
            if self._served >= self._queues:
                self._served.clear()
                return True
            full = len(self._running) >= self._threads
            believed = time.monotonic() - self.LONGEST_S
            threads = {one.thread for one in self._running.values() if one.since > believed}
        return self._movement.has_run(threads) and full
