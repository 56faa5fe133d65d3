"""What a job's child does, and the clean-up if it dies; `runner` is the parent's side."""

import logging
from collections.abc import Callable
from uuid import UUID

from django.db import transaction
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.notifications.composing import language_of
from apps.storage import copying, disk, jobs, states, unpacking, versions
from apps.storage.children import BUSY, DONE
from apps.storage.choices import JobKind, JobStatus
from apps.storage.models import Job

_RUNNERS: dict[JobKind, Callable[[Actor, jobs.Ticket], None]] = {
    JobKind.COPY: copying.run,
    JobKind.MOVE: copying.run,
    JobKind.UNPACK: unpacking.run,
    JobKind.VERSION: versions.run,
}
log = logging.getLogger(__name__)


def run_due_jobs() -> int:
    """Do all due jobs in this process, oldest first; returns how many. The platform itself forks a child for each."""
    count = 0
    while (first := states.due().order_by("created_at").first()) is not None:
        job = states.claim(first.pk)
        if job is not None:
            run_job(job)
            count += 1
    return count


def run_job(job: Job) -> int:
    """Do a claimed job as its owner, with their present rights.

    Returns the child's exit status: BUSY if an earlier child of the same job still lives.
    """
    with disk.exclusive_turn(str(job.pk)) as ours:
        if not ours:
            return BUSY
        with translation.override(language_of(job.owner)):
            _do(job)
    return DONE


def _do(job: Job) -> None:
    ticket = jobs.Ticket(job)
    try:
        actor = jobs.owner_of(job)
        with acting(actor):
            outside = jobs.file_job_of(job.kind)
            (outside.run if outside is not None else _RUNNERS[JobKind(job.kind)])(actor, ticket)
        ticket.close()
        states.finish(job, JobStatus.SUCCEEDED)
    except jobs.JobLost:
        return
    except DomainError as error:
        ticket.close()
        fail(job, error.sentences)
    except OSError as error:
        log.exception("job %s failed", job.pk)
        fail(job, error.strerror or "")
    except MemoryError:
        fail(job, _("It takes more memory than a job may have."))
    disk.move_to_trash(disk.staging(job.organisation_id, job.pk))


def fail(job: Job, error: str | Promise) -> bool:
    """Fail it with a sentence for its owner; False if it is not ours any more."""
    with translation.override(language_of(job.owner)), transaction.atomic():
        if not states.finish(job, JobStatus.FAILED, error=str(error)):
            return False
        if job.kind == JobKind.VERSION:
            versions.tell_failure(job, str(error))
        elif (outside := jobs.file_job_of(job.kind)) is not None:
            outside.failed(job, str(error))
    return True


def retry_or_fail(job: Job, *, tried: bool) -> None:
    """Retry a job whose child died silently, or fail it with a sentence. Call in the platform's scope."""
    if job.tries >= states.MAX_TRIES and tried:
        fail(job, _("It was begun %(count)s times and ended each time without an answer.") % {"count": job.tries})
        clear_staging(job.organisation_id, job.pk)
    else:
        states.requeue(job, tried=tried)


def clear_staging(organisation_id: UUID, job_id: UUID) -> None:
    """Remove the staging of a job that has ended and whose child is gone."""
    disk.move_to_trash(disk.staging(organisation_id, job_id))
