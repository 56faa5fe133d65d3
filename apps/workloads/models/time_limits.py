"""How long work may run in an organisation."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class RunTimeLimit(TenantModel):
    """The longest run time that work of one kind may have; None: any. Without a row the platform's default counts."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16)
    longest_s = models.PositiveIntegerField(null=True)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "kind"], name="run_time_limit_once"),
            models.CheckConstraint(condition=models.Q(longest_s__gte=60), name="run_time_limit_a_minute"),
        ]
