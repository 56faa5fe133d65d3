"""Examinations of Kubernetes clusters; in a module of its own, and one of `clusters.models`."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.clusters.choices import OPEN_CHECKUPS, CheckupStatus


class ClusterCheckup(models.Model):
    """One examination of a zone's cluster. `status` is written by `states` alone.

    `fence` rises with each claim, so that only the newest claim counts. `step`: the check that is made now.
    `automatic`: the platform ordered it, since nodes wait for a proof. `findings`: as
    `drivers.kubernetes.doctor.findings` writes them, in the order in which they were made.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    zone = models.ForeignKey("clusters.Zone", on_delete=models.CASCADE, related_name="checkups")
    status = models.CharField(max_length=10, choices=CheckupStatus, default=CheckupStatus.QUEUED)
    step = models.CharField(max_length=20, blank=True)
    findings = models.JSONField(default=list)
    automatic = models.BooleanField(default=False, db_default=False)
    fence = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["zone", "-created_at"], name="checkup_newest")]
        constraints = [
            models.UniqueConstraint(
                fields=["zone"], name="checkup_one_open", condition=Q(status__in=sorted(OPEN_CHECKUPS))
            ),
            models.CheckConstraint(condition=Q(status__in=sorted(CheckupStatus)), name="checkup_status_known"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_CHECKUPS
