"""Sums of charges that are kept, so that nobody adds up millions of them to show a page.

Both tables are written by one trigger on `billing_charge` (sql/charge_sums.sql), once for each statement that adds
charges: whatever writes charges writes the sums in the same transaction, and the application's role can do no more than
read them. `ledger.kept_sums` compares them with the charges.
"""

from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q

from apps.billing.models.catalogue import PriceVersion
from apps.billing.models.discounts import OFF_PLACES
from apps.billing.models.metering import MeterSession
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


def derived_key(to: type[models.Model], related_name: str = "+") -> Any:
    """A key that the charges have, whose own constraints hold it; the primary keys and indexes below find the rows."""
    return models.ForeignKey(
        to, on_delete=models.PROTECT, related_name=related_name, db_constraint=False, db_index=False
    )


class ChargeSum(TenantModel):
    """Columns that are sums of the charges' columns of the same names; `charges` is how many they are."""

    charges = models.PositiveBigIntegerField()
    seconds = models.DecimalField(max_digits=26, decimal_places=6)
    exact_fen = models.DecimalField(max_digits=30, decimal_places=10)
    voucher_exact = models.DecimalField(max_digits=30, decimal_places=10)
    amount_fen = models.BigIntegerField()

    class Meta:
        abstract = True


class SessionDay(ChargeSum):
    """What one session was charged for one day of the billing zone, corrections included.

    `start` is the first start of its charges and `end` their last end, as a charge's own.
    """

    pk = models.CompositePrimaryKey("session_id", "day")
    session = derived_key(MeterSession, related_name="days")
    day = models.DateField()
    organisation = derived_key(Organisation)
    price_version = derived_key(PriceVersion)
    start = models.DateTimeField()
    end = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "day"], name="session_day_by_owner"),
            models.Index(fields=["day"], name="session_day_by_day"),
        ]
        constraints = [models.CheckConstraint(condition=Q(charges__gte=1), name="session_day_has_charges")]


class DaySum(ChargeSum):
    """What an organisation was charged for one day at one price and discount, and in which billing month.

    `billed` (YYYY-MM) is the month of the rating runs, which a statement is about; `day` the day of use. `revision`
    is the charges'. `replica_seconds` = Σ seconds × (replicas − covered): what was paid for.
    """

    pk = models.CompositePrimaryKey("organisation_id", "billed", "day", "price_version_id", "discount_off", "revision")
    organisation = derived_key(Organisation)
    billed = models.CharField(max_length=7)
    day = models.DateField()
    price_version = derived_key(PriceVersion)
    discount_off = models.DecimalField(max_digits=OFF_PLACES + 1, decimal_places=OFF_PLACES, default=Decimal(0))
    revision = models.PositiveSmallIntegerField()
    replica_seconds = models.DecimalField(max_digits=30, decimal_places=6)

    class Meta:
        indexes = [
            models.Index(fields=["day"], name="day_sum_by_day"),
            models.Index(fields=["billed"], name="day_sum_by_month"),
        ]
        constraints = [models.CheckConstraint(condition=Q(charges__gte=1), name="day_sum_has_charges")]
