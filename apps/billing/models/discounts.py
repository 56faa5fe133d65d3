"""What is taken off an organisation's prices, in immutable versions as the prices themselves."""

from decimal import Decimal

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation

OFF_PLACES = 4


class Discount(TenantModel):
    """`off` of every price is taken off for what starts, or is paid in advance, within [effective_from, effective_to).

    0.15 is 15 per cent. Frozen at the opening of a meter session and in each payment of a prepaid order: what runs and
    what is paid keep the version that they began with. Versions never
    overlap and never change, but for an end that is still to come, which may be brought forward (triggers).
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    off = models.DecimalField(max_digits=OFF_PLACES + 1, decimal_places=OFF_PLACES)
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    note = models.CharField(max_length=300, blank=True)
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["organisation", "number"]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "number"], name="discount_number_once"),
            models.UniqueConstraint(
                fields=["organisation"], condition=Q(effective_to__isnull=True), name="discount_one_open_version"
            ),
            models.CheckConstraint(condition=Q(off__gte=Decimal(0), off__lte=Decimal(1)), name="discount_is_a_share"),
            models.CheckConstraint(
                condition=Q(effective_to__isnull=True) | Q(effective_to__gte=F("effective_from")),
                name="discount_ends_after_start",
            ),
        ]
