"""The worker's side of jobs: one at a time in a process, so that copying never keeps the kernel's loops waiting."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from django.db import connection, transaction

from apps.common.actor import Actor, system_actor
from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.storage import copying, jobs, states, unpacking, versions
from apps.storage.choices import JobKind, JobStatus
from apps.storage.models import Job

_RUNNERS: dict[JobKind, Callable[[Actor, jobs.Ticket], None]] = {
    JobKind.COPY: copying.run,
    JobKind.MOVE: copying.run,
    JobKind.UNPACK: unpacking.run,
    JobKind.VERSION: versions.run,
}
BEAT_S = 15.0
_turn = Lock()
log = logging.getLogger(__name__)


def work() -> int:
    """Do all jobs that are due; how many. Nothing while another thread of this process is at it."""
    count = 0
    if not _turn.acquire(blocking=False):
        return count
    try:
        while (job := states.claim()) is not None:
            _do(job)
            count += 1
    finally:
        _turn.release()
    return count


def _do(job: Job) -> None:
    """As the person who asked, with the rights that they have now."""
    ticket = jobs.Ticket(job)
    try:
        actor = jobs.owner_of(job)
        with acting(actor), _heart(job):
            _RUNNERS[JobKind(job.kind)](actor, ticket)
        ticket.close()
        states.finish(job, JobStatus.SUCCEEDED)
    except jobs.TakenAway:
        return
    except DomainError as error:
        ticket.close()
        _fail(job, error.sentences)
    except OSError as error:
        log.exception("job %s failed", job.pk)
        _fail(job, error.strerror or "")


def _fail(job: Job, error: str) -> None:
    with transaction.atomic():
        if states.finish(job, JobStatus.FAILED, error=error) and job.kind == JobKind.VERSION:
            versions.tell_failure(job, error)


@contextmanager
def _heart(job: Job) -> Iterator[None]:
    """Signs of life from a thread of its own: one huge file may keep the worker busy for minutes without news."""
    done = Event()

    def beat() -> None:
        try:
            with acting(system_actor()):
                while not done.wait(BEAT_S) and states.touch(job):
                    connection.close()
        finally:
            connection.close()

    thread = Thread(target=beat, name="storage-heart", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
