"""The one place that writes a job's status. `fence` rises with each claim: only the newest claimant is believed."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.common.clock import db_now
from apps.storage.choices import OPEN_JOBS, JobStatus
from apps.storage.models import Job

# A claimant gives a sign every few seconds; one that has not for this long was killed.
SILENT = timedelta(seconds=60)


def claim() -> Job | None:
    """The oldest job that nobody works on, now ours; None where there is none. Call in the platform's scope."""
    silent = Q(status=JobStatus.RUNNING, beat_at__lt=db_now() - SILENT)
    with transaction.atomic():
        due = Job.objects.filter(Q(status=JobStatus.QUEUED) | silent).order_by("created_at")
        job: Job | None = due.select_for_update(skip_locked=True).first()
        if job is None:
            return None
        Job.objects.filter(pk=job.pk).update(status=JobStatus.RUNNING, fence=F("fence") + 1, beat_at=Now())
        job.refresh_from_db()
        return job


def beat(job: Job, *, files: int, size: int) -> bool:
    """Say how far it is; False where it was cancelled or is someone else's by now."""
    rows = Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, fence=job.fence)
    return bool(rows.update(done_files=files, done_bytes=size, beat_at=Now()))


def touch(job: Job) -> bool:
    """Still at it, without news."""
    return bool(Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, fence=job.fence).update(beat_at=Now()))


def finish(job: Job, status: JobStatus, *, error: str = "") -> bool:
    """Succeeded or failed, if it is still ours."""
    rows = Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, fence=job.fence)
    return bool(rows.update(status=status, error=error[:1000], ended_at=Now()))


def stop(job: Job) -> bool:
    """Cancel; whoever works on it notices within a second or so."""
    rows = Job.objects.filter(pk=job.pk, status__in=OPEN_JOBS)
    return bool(rows.update(status=JobStatus.STOPPED, ended_at=Now()))
