"""Alipay's bills, day by day, and what comparing them with our own books has shown."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillSource, BillState
from apps.billing.models.ledger import Transfer
from apps.billing.models.topups import TopUpOrder, TopUpRefund
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class AlipayBill(models.Model):
    """A bill as it came, never changed. A day may have several: fetched again, or uploaded by hand.

    Kept in the database, so that one backup holds the money and what proves it.
    """

    day = models.DateField()
    digest = models.CharField(max_length=64)  # SHA-256, hexadecimal
    size = models.PositiveIntegerField()
    content = models.BinaryField()
    source = models.CharField(max_length=10, choices=BillSource)
    lines = models.PositiveIntegerField()
    # Payments on the same account that are not this platform's: in the bill, not in the comparison.
    others = models.PositiveIntegerField(default=0)
    others_fen = models.BigIntegerField(default=0)
    brought_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["day", "digest"], name="alipay_bill_once")]


class BillDay(models.Model):
    """One day in Alipay's zone (Asia/Shanghai). Only `apps.billing.payments.reconciliation.comparing` changes it."""

    day = models.DateField(primary_key=True)
    state = models.CharField(max_length=8, choices=BillState, default=BillState.WAITING)
    bill = models.ForeignKey(AlipayBill, on_delete=models.PROTECT, null=True, related_name="+")
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=200, blank=True)
    compared_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-day"]
        indexes = [
            models.Index(fields=["next_try_at"], name="bill_day_due", condition=Q(next_try_at__isnull=False)),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=[BillState.AGREES, BillState.DIFFERS])
                | Q(bill__isnull=False, compared_at__isnull=False),
                name="bill_day_compared_has_bill",
            ),
        ]


class BillItem(TenantModel):
    """One payment or refund as Alipay's bill has it (`theirs_fen`) and as our books have it (`ours_fen`), both above
    zero. `day` is the bill's; of what only we know, the day on which we recorded it.

    It needs somebody while the two are not the same and nobody has closed it with a note.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    day = models.DateField()
    kind = models.CharField(max_length=8, choices=BillItemKind)
    out_trade_no = models.CharField(max_length=64)
    out_request_no = models.CharField(max_length=64, blank=True)
    trade_no = models.CharField(max_length=64, blank=True)
    order = models.ForeignKey(TopUpOrder, on_delete=models.PROTECT, null=True, related_name="bill_items")
    refund = models.ForeignKey(TopUpRefund, on_delete=models.PROTECT, null=True, related_name="bill_items")
    bill = models.ForeignKey(AlipayBill, on_delete=models.PROTECT, null=True, related_name="items")
    theirs_fen = models.BigIntegerField(null=True)
    ours_fen = models.BigIntegerField(null=True)
    # What Alipay kept of it; below zero: given back with a refund.
    fee_fen = models.BigIntegerField(default=0)
    fee = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="+")
    paid_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=12, choices=BillOutcome)
    note = models.CharField(_("note"), max_length=300, blank=True)
    closed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    closed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-day", "-pk"]
        indexes = [
            models.Index(fields=["day", "outcome"], name="bill_item_of_day"),
            models.Index(
                fields=["-day"],
                name="bill_item_open",
                condition=Q(closed_at__isnull=True) & ~Q(outcome=BillOutcome.MATCHED),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["kind", "out_trade_no", "out_request_no"], name="bill_item_once"),
            models.CheckConstraint(
                condition=(Q(theirs_fen__gt=0) | Q(theirs_fen__isnull=True))
                & (Q(ours_fen__gt=0) | Q(ours_fen__isnull=True)),
                name="bill_item_positive",
            ),
            models.CheckConstraint(
                condition=Q(outcome=BillOutcome.MATCHED, theirs_fen__isnull=False, theirs_fen=F("ours_fen"))
                | Q(outcome=BillOutcome.OURS_ONLY, theirs_fen__isnull=True, ours_fen__isnull=False)
                | Q(outcome=BillOutcome.THEIRS_ONLY, theirs_fen__isnull=False, ours_fen__isnull=True)
                | Q(outcome=BillOutcome.DIFFERS, theirs_fen__isnull=False, ours_fen__isnull=False)
                & ~Q(theirs_fen=F("ours_fen")),
                name="bill_item_outcome_says_it",
            ),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True, closed_by__isnull=True, note="")
                | (Q(closed_at__isnull=False, closed_by__isnull=False) & ~Q(note="")),
                name="bill_item_closed_has_note",
            ),
        ]

    @property
    def is_open(self) -> bool:
        return self.outcome != BillOutcome.MATCHED and self.closed_at is None
