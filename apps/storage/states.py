"""The one place that writes a job's status. `fence` rises with each claim: only the newest claimant is believed."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Now

from apps.common.clock import db_now
from apps.storage.choices import OPEN_JOBS, JobStatus
from apps.storage.models import Job

# A runner gives a sign for its children every few seconds; one that has not for this long was killed with them.
SILENT = timedelta(seconds=30)
MAX_TRIES = 3


def due() -> QuerySet[Job]:
    """Jobs that nobody works on. Call in the platform's scope."""
    silent = Q(status=JobStatus.RUNNING, beat_at__lt=db_now() - SILENT)
    return Job.objects.filter(Q(status=JobStatus.QUEUED) | silent)


def claim(job_id: UUID) -> Job | None:
    """The job, now ours; None where somebody else was faster. Call in the platform's scope."""
    now = Now()
    taken = (
        due()
        .filter(pk=job_id)
        .update(
            status=JobStatus.RUNNING,
            fence=F("fence") + 1,
            tries=F("tries") + 1,
            started_at=now,
            beat_at=now,
            progress_at=now,
        )
    )
    return Job.objects.filter(pk=job_id).first() if taken else None


def beat(job: Job, *, files: int, size: int) -> bool:
    """Say how far it is; False where it was cancelled or is someone else's by now."""
    return bool(_ours(job).update(done_files=files, done_bytes=size, beat_at=Now(), progress_at=Now()))


def touch(jobs: Iterable[Job]) -> None:
    """Their children live, without news. A job that has another claimant by now is left alone."""
    mine = Q(pk__in=[])
    for job in jobs:
        mine |= Q(pk=job.pk, fence=job.fence)
    Job.objects.filter(mine, status=JobStatus.RUNNING).update(beat_at=Now())


def finish(job: Job, status: JobStatus, *, error: str = "") -> bool:
    """Succeeded or failed, if it is still ours."""
    return bool(_ours(job).update(status=status, error=error[:1000], ended_at=Now()))


def requeue(job: Job, *, tried: bool) -> bool:
    """Its child is gone without an outcome. Not `tried` where that was the platform's doing; True if it was ours."""
    fewer = F("tries") if tried else Greatest(F("tries") - 1, 0)
    return bool(_ours(job).update(status=JobStatus.QUEUED, tries=fewer, beat_at=None))


def stop(job: Job) -> bool:
    """Cancel; the runner kills whatever works on it within a second or so."""
    rows = Job.objects.filter(pk=job.pk, status__in=OPEN_JOBS)
    return bool(rows.update(status=JobStatus.STOPPED, ended_at=Now()))


def _ours(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, fence=job.fence)
