"""Where an organisation stands when its money runs out."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.choices import ArrearsStatus
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class ArrearsState(TenantModel):
    """Written by `states` alone. `changes` counts transitions and is the fence of the conditional UPDATE.

    `threshold_fen` is the funds below which "low" was declared: funds above it end that state at once. `calm_since`:
    since when a low organisation has been short no more, because less burns; it ends "low" once it has lasted, so that
    work which starts and ends does not make it flap.

    `grace_minutes` and `retention_days` are the organisation's own terms, None: those of the platform. While a release
    is announced, `release_at` is its moment and `told_days` the last announcement made (7, 3 or 1 days before).
    """

    organisation = models.OneToOneField(Organisation, on_delete=models.PROTECT, primary_key=True, related_name="+")
    status = models.CharField(max_length=16, choices=ArrearsStatus, default=ArrearsStatus.NORMAL)
    since = models.DateTimeField(db_default=Now())
    changes = models.PositiveIntegerField(default=0)
    threshold_fen = models.BigIntegerField(default=0)
    calm_since = models.DateTimeField(null=True)
    grace_minutes = models.PositiveIntegerField(null=True)
    retention_days = models.PositiveIntegerField(null=True)
    release_at = models.DateTimeField(null=True)
    told_days = models.PositiveSmallIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=list(ArrearsStatus)), name="arrears_status_known"),
            models.CheckConstraint(
                condition=Q(status=ArrearsStatus.RELEASE_PENDING, release_at__isnull=False, told_days__isnull=False)
                | (~Q(status=ArrearsStatus.RELEASE_PENDING) & Q(release_at__isnull=True, told_days__isnull=True)),
                name="arrears_release_is_announced",
            ),
        ]
        indexes = [
            models.Index(fields=["status"], name="arrears_not_normal", condition=~Q(status=ArrearsStatus.NORMAL)),
        ]
