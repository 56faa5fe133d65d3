"""Where an organisation stands when its money runs out."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.choices import ArrearsStatus
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class ArrearsState(TenantModel):
    """Written by `states` alone. `changes` counts transitions and is the fence of the conditional UPDATE.

    `threshold_fen` is the funds below which "low" was declared: only funds above it end that state, so that work
    which starts and ends does not make it flap.
    """

    organisation = models.OneToOneField(Organisation, on_delete=models.PROTECT, primary_key=True, related_name="+")
    status = models.CharField(max_length=16, choices=ArrearsStatus, default=ArrearsStatus.NORMAL)
    since = models.DateTimeField(db_default=Now())
    changes = models.PositiveIntegerField(default=0)
    threshold_fen = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=list(ArrearsStatus)), name="arrears_status_known"),
        ]
        indexes = [
            models.Index(fields=["status"], name="arrears_not_normal", condition=~Q(status=ArrearsStatus.NORMAL)),
        ]
