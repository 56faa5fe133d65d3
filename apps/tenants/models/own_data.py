"""Copies of their data that people ask for."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.tenants.models.people import User


class OwnDataExport(models.Model):
    """A zip of what the platform keeps about one person: asked for, written by a worker, gone at `expires_at`.

    `tries` counts the workers that began it: only the newest one's result is taken.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    language = models.CharField(max_length=10)
    asked_at = models.DateTimeField(db_default=Now())
    claimed_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    ready_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    content = models.BinaryField(null=True)
    size = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user"], condition=Q(ready_at=None, failed_at=None), name="own_data_once_under_way"
            ),
            models.CheckConstraint(
                condition=Q(ready_at=None) | Q(content__isnull=False, expires_at__isnull=False, failed_at=None),
                name="own_data_ready_has_a_file",
            ),
        ]
        indexes = [
            models.Index(fields=["asked_at"], name="own_data_open", condition=Q(ready_at=None, failed_at=None)),
            models.Index(fields=["expires_at"], name="own_data_to_expire", condition=Q(expires_at__isnull=False)),
        ]

    @property
    def under_way(self) -> bool:
        return self.ready_at is None and self.failed_at is None
