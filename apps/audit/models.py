"""The operation log: append-only rows that outlive what they speak of, so they hold ids and words, no foreign keys."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel


class Entry(TenantModel):
    """One change: who, as what, did what to which object, with the values before and after.

    A trigger (apps/common/sql/append_only.sql) refuses UPDATE, DELETE and TRUNCATE.
    """

    at = models.DateTimeField(db_default=Now())
    organisation_id = models.UUIDField(null=True)
    actor_id = models.BigIntegerField(null=True)
    actor_label = models.CharField(max_length=200)
    channel = models.CharField(max_length=16)
    address = models.GenericIPAddressField(null=True)
    action = models.CharField(max_length=80)
    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    target_label = models.CharField(max_length=200)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_newest"),
            models.Index(fields=["organisation_id", "-at"], name="audit_organisation"),
            models.Index(fields=["target_type", "target_id"], name="audit_target"),
        ]
