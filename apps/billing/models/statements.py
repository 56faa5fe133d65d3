"""What an organisation owed and paid in one billing month, and the lines that it adds up from."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.choices import StatementSection, StatementState
from apps.billing.models.catalogue import PriceVersion
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class Statement(TenantModel):
    """One organisation and billing month (`period`, YYYY-MM in the billing zone): all that was settled in it.

    total_fen = Σ amounts of the bill's lines, rounding included = Σ transfers of usage, corrections, credits and
    adjustments = cash_fen + voucher_fen. `exact_fen`: the same before rounding. The wallet went from `opening_fen` to
    `closing_fen`. Triggers (sql/statement_guard.sql, sql/statementline_guard.sql) know the legal changes of state, keep
    the lines of all but drafts, and let nothing change once it is issued; `digest` is the SHA-256 of its canonical
    text.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    period = models.CharField(max_length=7)
    state = models.CharField(max_length=8, choices=StatementState, default=StatementState.DRAFT)
    opening_fen = models.BigIntegerField(default=0)
    closing_fen = models.BigIntegerField(default=0)
    exact_fen = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    total_fen = models.BigIntegerField(default=0)
    cash_fen = models.BigIntegerField(default=0)
    voucher_fen = models.BigIntegerField(default=0)
    recognised_fen = models.BigIntegerField(default=0)
    received_fen = models.BigIntegerField(default=0)
    built_at = models.DateTimeField()
    # Whether it was built when nothing could be added to the month any more.
    complete = models.BooleanField(default=False)
    reviewed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True)
    issued_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    issued_at = models.DateTimeField(null=True)
    serial = models.PositiveIntegerField(null=True)
    digest = models.CharField(max_length=64, blank=True)
    # Why it last went back to draft.
    reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-period", "pk"]
        indexes = [
            models.Index(fields=["period", "state"], name="statement_of_period"),
            models.Index(fields=["-created_at"], name="statement_newest"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "period"], name="statement_once"),
            models.UniqueConstraint(fields=["period", "serial"], name="statement_serial_once"),
            models.CheckConstraint(
                condition=Q(period__regex=r"^\d{4}-(0[1-9]|1[0-2])$"), name="statement_period_month"
            ),
            models.CheckConstraint(
                condition=Q(total_fen=F("cash_fen") + F("voucher_fen")), name="statement_paid_is_total"
            ),
            models.CheckConstraint(
                condition=Q(state=StatementState.DRAFT, reviewed_at__isnull=True)
                | (~Q(state=StatementState.DRAFT) & Q(reviewed_at__isnull=False, complete=True)),
                name="statement_reviewed_is_complete",
            ),
            models.CheckConstraint(
                condition=(
                    Q(state=StatementState.ISSUED, issued_at__isnull=False, serial__isnull=False) & ~Q(digest="")
                )
                | (~Q(state=StatementState.ISSUED) & Q(issued_at__isnull=True, serial__isnull=True, digest="")),
                name="statement_issued_is_sealed",
            ),
        ]

    @property
    def number(self) -> str:
        """`ST-202611-000042`; empty before it is issued."""
        return f"ST-{self.period.replace('-', '')}-{self.serial:06d}" if self.serial else ""


class StatementLine(TenantModel):
    """One row of a statement. What it names is copied, so that later names and prices do not change it.

    `kind` is a BillKind in the bill's section, an AccountKind in what it was paid from, else a TransferKind.
    `seconds` counts each replica's. `amount_fen` is exact in the bill and whole elsewhere; in the wallet's section
    what went out is below zero. `discount`: the part of the price that was left off, 0 to 1.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    statement = models.ForeignKey(Statement, on_delete=models.PROTECT, related_name="lines")
    position = models.PositiveIntegerField()
    section = models.CharField(max_length=8, choices=StatementSection)
    kind = models.CharField(max_length=20)
    # The month that it was used in.
    usage_period = models.CharField(max_length=7, blank=True)
    price_version = models.ForeignKey(PriceVersion, on_delete=models.PROTECT, null=True, related_name="+")
    label_en = models.CharField(max_length=160, blank=True)
    label_zh = models.CharField(max_length=160, blank=True)
    price_number = models.PositiveIntegerField(null=True)
    rate_fen_per_hour = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    discount = models.DecimalField(max_digits=12, decimal_places=10, default=0)
    count = models.PositiveBigIntegerField(default=0)
    seconds = models.DecimalField(max_digits=26, decimal_places=6, default=0)
    amount_fen = models.DecimalField(max_digits=30, decimal_places=10)

    class Meta:
        ordering = ["statement", "position"]
        constraints = [
            models.UniqueConstraint(fields=["statement", "position"], name="statement_line_position_once"),
        ]
