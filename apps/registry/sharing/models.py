"""Shares of repositories between organisations."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.registry.repositories import ImageRepository
from apps.tenants.models import Organisation, User

MAX_NOTE = 200


class RepositoryShare(models.Model):
    """That `receiver`'s people may pull a repository of another organisation, and start work in its images.

    Whether it counts now is asked in `rights`. `until`: its last day, by the platform's clock; None: until it is taken
    back, which deletes the row. `declined_at`: since when the receiver does not want it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    repository = models.ForeignKey(ImageRepository, on_delete=models.CASCADE, related_name="shares")
    receiver = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=MAX_NOTE, blank=True, default="")
    until = models.DateField(null=True)
    shared_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    declined_at = models.DateTimeField(null=True)
    declined_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["repository", "receiver"], name="repository_shared_once")]
        indexes = [models.Index(fields=["receiver", "-created_at"], name="repository_share_newest")]

    def __str__(self) -> str:
        return str(self.pk)
