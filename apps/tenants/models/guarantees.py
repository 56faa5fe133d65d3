"""Guarantees: cards that an organisation gets as soon as it asks for them."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models.organisations import Organisation


class Guarantee(TenantModel):
    """Thousandths of a card of one accelerator model, or of any (`gpu_model` empty).

    Others may use it while it is idle, and give it back when they are asked to. Real and simulated cards are promised
    apart: the same model may exist in both worlds.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="guarantees")
    simulated = models.BooleanField(default=False)
    gpu_model = models.CharField(max_length=60, blank=True, default="")
    gpu_milli = models.PositiveIntegerField()
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["organisation", "gpu_model"]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "simulated", "gpu_model"], name="guarantee_once"),
            models.CheckConstraint(condition=models.Q(gpu_milli__gt=0), name="guarantee_positive"),
        ]
