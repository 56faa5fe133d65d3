"""From slices to money: rating runs and their charges."""

from decimal import Decimal

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.models.catalogue import PriceVersion
from apps.billing.models.discounts import OFF_PLACES
from apps.billing.models.ledger import Transfer
from apps.billing.models.metering import MeterSession
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class RatingRun(TenantModel):
    """One rounding: everything newly metered of one organisation, settled at once (by nothing below one fen).

    carried_in + exact_fen = amount_fen + carried_out with 0 ≤ carried_out < 1, and carried_in is the carried_out of
    the run before (foreign key in migration 0002): what a run rounds away, the next one charges.
    `amount_fen` is negative when the run gives back.

    `voucher_fen` of the amount are moved by its voucher uses, a transfer each; `transfer` moves the rest between
    wallet and revenue, and is missing where there is none. A trigger compares them all when the run is committed.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveBigIntegerField()
    carried_in = models.DecimalField(max_digits=11, decimal_places=10)
    exact_fen = models.DecimalField(max_digits=30, decimal_places=10)
    amount_fen = models.BigIntegerField()
    voucher_fen = models.BigIntegerField(default=0, db_default=0)
    carried_out = models.DecimalField(max_digits=11, decimal_places=10)
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="rating_run")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["organisation", "at"], name="run_of_month")]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "number"], name="run_number_once"),
            models.CheckConstraint(
                condition=Q(number__gt=1) | Q(number=1, carried_in=0), name="run_first_carries_nothing"
            ),
            models.CheckConstraint(condition=Q(carried_out__gte=0, carried_out__lt=1), name="run_carries_under_a_fen"),
            models.CheckConstraint(
                condition=Q(carried_out=F("carried_in") + F("exact_fen") - F("amount_fen")), name="run_adds_up"
            ),
            models.CheckConstraint(
                condition=Q(amount_fen=F("voucher_fen"), transfer__isnull=True)
                | (~Q(amount_fen=F("voucher_fen")) & Q(transfer__isnull=False)),
                name="run_moves_what_it_says",
            ),
            models.CheckConstraint(
                condition=Q(voucher_fen__gte=0, amount_fen__gte=F("voucher_fen"))
                | Q(voucher_fen__lte=0, amount_fen__lte=F("voucher_fen")),
                name="run_vouchers_within_amount",
            ),
        ]

    @property
    def cash_fen(self) -> int:
        """What the wallet pays; below zero: gets back."""
        return self.amount_fen - self.voucher_fen


# Revisions of a charge. Late: an end before what had been charged became known. Credit: the work was lost.
LATE, CREDIT = 1, 2


class Charge(TenantModel):
    """What one slice costs: revision 0 all of it, later revisions (seconds below zero) what is given back.

    exact_fen = rate × (1 − discount_off) × replicas × seconds ÷ 3600, to ten places, in such a way that the charges
    of a session add up to the price of its whole time however it was cut (`arithmetic.exact_fen`). `amount_fen` is its
    part of the run's whole fen by largest remainder. Rate and discount are copied from their versions, which cannot
    change.
    `voucher_exact` of the price is paid by vouchers (its covers say which), the rest by the wallet.
    """

    # Keys of two columns (migration 0002) say more than these three would: the run, the session and the slice exist
    # and belong to the same organisation. Nor does a column need an index that another one begins with.
    run = models.ForeignKey(RatingRun, on_delete=models.PROTECT, related_name="charges", db_constraint=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    session = models.ForeignKey(
        MeterSession, on_delete=models.PROTECT, related_name="charges", db_constraint=False, db_index=False
    )
    slice_start = models.DateTimeField()
    start = models.DateTimeField()
    end = models.DateTimeField()
    revision = models.PositiveSmallIntegerField(default=0)
    period = models.CharField(max_length=7)
    day = models.DateField()
    price_version = models.ForeignKey(PriceVersion, on_delete=models.PROTECT, related_name="+", db_index=False)
    replicas = models.PositiveIntegerField()
    # How many of the replicas a prepaid order covers.
    covered = models.PositiveIntegerField(default=0, db_default=0)
    rate = models.DecimalField(max_digits=20, decimal_places=10)
    discount_off = models.DecimalField(
        max_digits=OFF_PLACES + 1, decimal_places=OFF_PLACES, default=Decimal(0), db_default=Decimal(0)
    )
    seconds = models.DecimalField(max_digits=20, decimal_places=6)
    exact_fen = models.DecimalField(max_digits=30, decimal_places=10)
    voucher_exact = models.DecimalField(max_digits=30, decimal_places=10, default=Decimal(0), db_default=Decimal(0))
    amount_fen = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "day"], name="charge_by_day"),
            models.Index(fields=["day"], name="charge_by_day_all"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["session", "slice_start", "revision"], name="charge_once"),
            models.CheckConstraint(
                condition=Q(revision=0, seconds__gt=0) | Q(revision__gt=0, seconds__lt=0),
                name="charge_sign_of_revision",
            ),
            models.CheckConstraint(condition=Q(covered__lte=F("replicas")), name="charge_covers_what_runs"),
        ]

    @property
    def is_credit(self) -> bool:
        return self.revision == CREDIT

    @property
    def key(self) -> str:
        """The business key that the unique constraint stands for: `charge:<slice>:<period>:<revision>`."""
        return f"charge:{self.session_id}/{self.slice_start:%Y%m%dT%H%M%S.%fZ}:{self.period}:{self.revision}"
