"""The price list: what a core, a GiB and each kind of accelerator cost an hour, in immutable versions."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.choices import SLICED_BY_MEMORY, GpuMode, UnitItem

WITHOUT_CARD = [UnitItem.CPU, UnitItem.MEMORY, UnitItem.RDMA]


class UnitPrice(models.Model):
    """Fen per hour of one unit of `item` (see `UnitItem`), in force in [effective_from, effective_to).

    `gpu_model` empty: any model that has no price of its own. Immutable but for `effective_to`, which is set once; a
    trigger keeps it so and lets no instant have two prices of one unit. A version that ends without a successor: the
    unit is no longer on the list.
    """

    item = models.CharField(max_length=12, choices=UnitItem)
    gpu_model = models.CharField(max_length=80, blank=True)
    gpu_mode = models.CharField(max_length=8, choices=GpuMode, blank=True)
    mig_profile = models.CharField(max_length=24, blank=True)
    number = models.PositiveIntegerField()
    rate_fen_per_hour = models.DecimalField(max_digits=20, decimal_places=10)
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    UNIT = ("item", "gpu_model", "gpu_mode", "mig_profile")

    class Meta:
        ordering = ["item", "gpu_model", "gpu_mode", "mig_profile", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "gpu_model", "gpu_mode", "mig_profile", "number"], name="unit_price_number_once"
            ),
            models.UniqueConstraint(
                fields=["item", "gpu_model", "gpu_mode", "mig_profile"],
                condition=Q(effective_to__isnull=True),
                name="unit_price_one_open_version",
            ),
            models.CheckConstraint(
                condition=Q(item__in=WITHOUT_CARD, gpu_model="", gpu_mode="", mig_profile="")
                | (Q(item=UnitItem.GPU, gpu_mode=GpuMode.MIG) & ~Q(mig_profile=""))
                | (Q(item=UnitItem.GPU, mig_profile="") & ~Q(gpu_mode__in=["", GpuMode.MIG]))
                | Q(item=UnitItem.GPU_MEMORY, gpu_mode__in=SLICED_BY_MEMORY, mig_profile=""),
                name="unit_price_names_a_unit",
            ),
            models.CheckConstraint(condition=Q(rate_fen_per_hour__gte=0), name="unit_price_not_negative"),
            models.CheckConstraint(
                condition=Q(effective_to__isnull=True) | Q(effective_to__gte=F("effective_from")),
                name="unit_price_ends_after_start",
            ),
        ]
