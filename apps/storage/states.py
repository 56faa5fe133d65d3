"""The one place that writes a job's status. `fence` rises with each claim: only the newest claim counts."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Now

from apps.common.clock import db_now
from apps.storage.choices import OPEN_JOBS, JobStatus
from apps.storage.models import Job

# A runner renews its children's claims every few seconds; one that has not for this long was killed with them.
SILENT = timedelta(seconds=30)
MAX_TRIES = 3


def due() -> QuerySet[Job]:
    """Jobs that nobody works on. Call in the platform's scope."""
    silent = Q(status=JobStatus.RUNNING, beat_at__lt=db_now() - SILENT)
    return Job.objects.filter(Q(status=JobStatus.QUEUED) | silent)


def claim(job_id: UUID) -> Job | None:
    """Claim the job; None if somebody else was faster. Call in the platform's scope."""
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


def report_progress(job: Job, *, files: int, size: int) -> bool:
    """Record progress; False if it was cancelled or another process has claimed it."""
    return bool(_ours(job).update(done_files=files, done_bytes=size, beat_at=Now(), progress_at=Now()))


def renew_claims(jobs: Iterable[Job]) -> None:
    """Renew the claims of jobs whose children live. A job with a newer claim is left alone."""
    mine = Q(pk__in=[])
    for job in jobs:
        mine |= Q(pk=job.pk, fence=job.fence)
    Job.objects.filter(mine, status=JobStatus.RUNNING).update(beat_at=Now())


def finish(job: Job, status: JobStatus, *, error: str = "") -> bool:
    """Record success or failure if the claim is still ours."""
    return bool(_ours(job).update(status=status, error=error[:1000], ended_at=Now()))


def requeue(job: Job, *, tried: bool) -> bool:
    """Requeue a job whose child died without an outcome; not `tried` if the platform killed it. True if it was ours."""
    fewer = F("tries") if tried else Greatest(F("tries") - 1, 0)
    return bool(_ours(job).update(status=JobStatus.QUEUED, tries=fewer, beat_at=None))


def stop(job: Job) -> bool:
    """Cancel; the runner kills whatever works on it within a second or so."""
    rows = Job.objects.filter(pk=job.pk, status__in=OPEN_JOBS)
    return bool(rows.update(status=JobStatus.STOPPED, ended_at=Now()))


def _ours(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, fence=job.fence)
