"""Money that may be used for some things until some day: granted, used first, and what is left goes back."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.choices import VoucherEndReason, VoucherScope
from apps.billing.models.catalogue import Package
from apps.billing.models.ledger import Transfer
from apps.billing.models.rating import Charge, RatingRun
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class Voucher(TenantModel):
    """Pays for usage of its scope within [valid_from, valid_until), both at full hours, so that no slice straddles.

    `used_fen` (what it has paid), `left_fen` (amount less used and ended) and `covered_exact` (the exact price of the
    usage that it stands for) are kept by triggers; what is left of an organisation's vouchers is its voucher account.
    Whole fen follow the exact: `used_fen` differs from `covered_exact` by what roundings leave over, no more.
    Voided: what was left went back before its time.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    amount_fen = models.BigIntegerField()
    scope = models.CharField(max_length=12, choices=VoucherScope)
    package = models.ForeignKey(Package, on_delete=models.PROTECT, null=True, related_name="+")
    gpu_model = models.CharField(max_length=80, blank=True)
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True)
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, related_name="voucher")
    used_fen = models.BigIntegerField(default=0, db_default=0)
    left_fen = models.BigIntegerField()
    covered_exact = models.DecimalField(max_digits=30, decimal_places=10, default=0, db_default=0)
    voided_at = models.DateTimeField(null=True)
    issued_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "valid_until"], name="voucher_soonest"),
            models.Index(fields=["valid_until"], name="voucher_to_end", condition=Q(left_fen__gt=0)),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="voucher_amount_positive"),
            models.CheckConstraint(
                condition=Q(left_fen__gte=0, used_fen__gte=0, amount_fen__gte=F("left_fen") + F("used_fen")),
                name="voucher_left_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(covered_exact__gte=0, covered_exact__lte=F("amount_fen")),
                name="voucher_covers_within_amount",
            ),
            models.CheckConstraint(condition=Q(valid_until__gt=F("valid_from")), name="voucher_ends_after_start"),
            models.CheckConstraint(
                condition=Q(scope=VoucherScope.PACKAGE, package__isnull=False, gpu_model="")
                | Q(scope=VoucherScope.GPU_MODEL, package__isnull=True) & ~Q(gpu_model="")
                | Q(scope__in=[VoucherScope.EVERYTHING, VoucherScope.STORAGE], package__isnull=True, gpu_model=""),
                name="voucher_scope_is_named",
            ),
        ]


class VoucherUse(TenantModel):
    """One voucher's part of one rating run: the exact price that it stands for and the whole fen that moved.

    Below zero where the run gives back. The transfer is missing where no whole fen moved.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    voucher = models.ForeignKey(Voucher, on_delete=models.PROTECT, related_name="uses")
    run = models.ForeignKey(RatingRun, on_delete=models.PROTECT, related_name="voucher_uses")
    exact_fen = models.DecimalField(max_digits=30, decimal_places=10)
    amount_fen = models.BigIntegerField()
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="voucher_use")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["voucher", "run"], name="voucher_use_once_a_run"),
            models.CheckConstraint(
                condition=Q(amount_fen=0, transfer__isnull=True) | (~Q(amount_fen=0) & Q(transfer__isnull=False)),
                name="voucher_use_moves_what_it_says",
            ),
        ]


class ChargeCover(TenantModel):
    """How much of a charge's exact price a voucher stands for; below zero on a charge that gives back."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    charge = models.ForeignKey(Charge, on_delete=models.PROTECT, related_name="covers")
    voucher = models.ForeignKey(Voucher, on_delete=models.PROTECT, related_name="covers")
    exact_fen = models.DecimalField(max_digits=30, decimal_places=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["charge", "voucher"], name="cover_once")]


class VoucherEnd(TenantModel):
    """What was left when a voucher ended. Numbered: what a later correction gives back to it ends as well."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    voucher = models.ForeignKey(Voucher, on_delete=models.PROTECT, related_name="ends")
    number = models.PositiveIntegerField()
    reason = models.CharField(max_length=12, choices=VoucherEndReason)
    amount_fen = models.BigIntegerField()
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, related_name="voucher_end")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["voucher", "number"], name="voucher_end_number_once"),
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="voucher_end_amount_positive"),
        ]
