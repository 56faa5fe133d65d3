"""Files on their way: uploads that can be resumed, and work that takes longer than a request."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.storage.choices import OPEN_JOBS, Clash, JobKind, JobStatus, RootKind
from apps.tenants.models import Organisation, User


class Upload(TenantModel):
    """A file that arrives in parts. Its bytes lie apart until all are there; how many came, the part file itself says.

    `fingerprint` is the browser's (name, size, time of change): the same file chosen again continues.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    root_kind = models.CharField(max_length=8, choices=RootKind)
    root_id = models.UUIDField()
    path = models.TextField()
    size = models.BigIntegerField()
    clash = models.CharField(max_length=10, choices=Clash, default=Clash.KEEP_BOTH)
    fingerprint = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    touched_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["root_kind", "root_id"], name="upload_of_root"),
            models.Index(fields=["touched_at"], name="upload_oldest"),
        ]
        constraints = [models.CheckConstraint(condition=models.Q(size__gte=0), name="upload_size_not_negative")]


class Job(TenantModel):
    """Work on files that outlives a request. `status` is written by `states` alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=JobKind)
    status = models.CharField(max_length=10, choices=JobStatus, default=JobStatus.QUEUED)
    title = models.CharField(max_length=200)
    # What it is about, for the page that shows it.
    root_kind = models.CharField(max_length=8, choices=RootKind, blank=True)
    subject_id = models.UUIDField()
    parameters = models.JSONField(default=dict)
    done_bytes = models.BigIntegerField(default=0)
    total_bytes = models.BigIntegerField(default=0)
    done_files = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    fence = models.PositiveIntegerField(default=0)
    # How often it was begun; a child process that dies without a word is tried again a few times.
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    # The runner's sign that the child lives, and the child's own that it got further.
    beat_at = models.DateTimeField(null=True)
    progress_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["created_at"], name="job_open", condition=models.Q(status__in=sorted(OPEN_JOBS))),
            models.Index(fields=["subject_id", "-created_at"], name="job_of_subject"),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=sorted(JobStatus)), name="job_status_known"),
        ]
