"""Notices: one row per person and event, shown in the page."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class Notice(TenantModel):
    """A notice to one person. Its text is made from `kind` and `data` when it is read, in the reader's language."""

    # Empty: told to a person as staff of the platform, shown in the console.
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=60)
    data = models.JSONField(default=dict)
    dedup = models.CharField(max_length=160, blank=True, default="")  # what must be told once only
    created_at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "organisation", "-created_at"], name="notice_newest")]
        constraints = [
            models.UniqueConstraint(fields=["dedup"], condition=~models.Q(dedup=""), name="notice_told_once"),
        ]
