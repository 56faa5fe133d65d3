"""The most that one workload may cost."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class SpendingCap(TenantModel):
    """Chosen with the workload or later. Reached: it was asked to save and stop; closed: it ended by itself.

    `look_at` is the earliest moment at which the cap could be near, at the undiscounted price: until then nothing has
    to be added up.
    """

    workload_id = models.UUIDField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    limit_fen = models.BigIntegerField()
    look_at = models.DateTimeField(db_default=Now())
    reached_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(limit_fen__gt=0), name="cap_positive")]
        indexes = [
            models.Index(
                fields=["look_at"], name="cap_open", condition=Q(closed_at__isnull=True, reached_at__isnull=True)
            )
        ]
