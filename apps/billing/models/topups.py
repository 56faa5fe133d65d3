"""Top-ups by Alipay: what was asked for, what was paid, what was given back."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.choices import NoticeOutcome, RefundStatus, TopUpStatus
from apps.billing.models.ledger import Transfer
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class TopUpOrder(TenantModel):
    """One payment, known to Alipay by `out_trade_no`. Only `apps.billing.payments.alipay.orders` changes the status.

    Closed can still become paid: the buyer may have paid while we closed it. Paid is for good; refunds are rows of
    their own, and `refunded_fen` what they take.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    # None: found in Alipay's bill after a restore; who had paid is lost.
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    out_trade_no = models.CharField(max_length=64, unique=True)
    amount_fen = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=TopUpStatus, default=TopUpStatus.OPEN)
    trade_no = models.CharField(max_length=64, blank=True)
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="top_up_order")
    refunded_fen = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    # When the gateway is asked next, while nothing final is known, and how often it has been.
    next_query_at = models.DateTimeField(null=True)
    queries = models.PositiveSmallIntegerField(default=0)
    # Written with the credit; whoever looks after the organisation's money is told once the gateway has its answer.
    untold = models.BooleanField(db_default=False, default=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="topup_of_organisation"),
            models.Index(fields=["next_query_at"], name="topup_to_ask", condition=Q(next_query_at__isnull=False)),
            models.Index(fields=["id"], name="topup_to_tell", condition=Q(untold=True)),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="topup_positive"),
            models.CheckConstraint(
                condition=Q(refunded_fen__gte=0) & Q(refunded_fen__lte=F("amount_fen")), name="topup_refunds_at_most"
            ),
            models.CheckConstraint(
                condition=Q(status=TopUpStatus.PAID, transfer__isnull=False, paid_at__isnull=False)
                | (~Q(status=TopUpStatus.PAID) & Q(transfer__isnull=True, refunded_fen=0)),
                name="topup_paid_is_credited",
            ),
            models.CheckConstraint(condition=Q(untold=False) | Q(status=TopUpStatus.PAID), name="topup_tells_of_paid"),
        ]


class TopUpNotice(TenantModel):
    """A signed notice of the gateway's about a payment. The gateway repeats one until it is taken: `heard` counts.

    Written by `apps.billing.payments.alipay.heard` alone.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    order = models.ForeignKey(TopUpOrder, on_delete=models.PROTECT, related_name="notices")
    notify_id = models.CharField(max_length=128)
    trade_status = models.CharField(max_length=32)  # as the gateway names it
    total_fen = models.BigIntegerField()
    refund_fen = models.BigIntegerField(null=True)  # where it is about a refund
    outcome = models.CharField(max_length=8, choices=NoticeOutcome)
    heard = models.PositiveIntegerField(default=1)
    at = models.DateTimeField(db_default=Now())
    last_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["order", "notify_id"], name="topup_notice_once")]


class TopUpRefund(TenantModel):
    """A part of a payment given back: taken from the wallet first, then asked for under a fixed `out_request_no`.

    At Alipay a number is one payment's own: who refunds by hand there may give the same to several payments.
    """

    is_new = False  # kept nowhere: whether the call that returned this object took the money
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    order = models.ForeignKey(TopUpOrder, on_delete=models.PROTECT, related_name="refunds")
    out_request_no = models.CharField(max_length=64)
    amount_fen = models.BigIntegerField()
    reason = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=RefundStatus, default=RefundStatus.ASKED)
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, related_name="+")
    # What put the money back into the wallet where the gateway refused.
    returned = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="+")
    problem = models.CharField(max_length=200, blank=True)
    requested_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    next_query_at = models.DateTimeField(null=True)
    queries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["next_query_at"], name="refund_to_ask", condition=Q(next_query_at__isnull=False))
        ]
        constraints = [
            models.UniqueConstraint(fields=["out_request_no", "order"], name="refund_number_once"),
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="refund_positive"),
            models.CheckConstraint(
                condition=Q(status=RefundStatus.FAILED, returned__isnull=False)
                | (~Q(status=RefundStatus.FAILED) & Q(returned__isnull=True)),
                name="refund_failed_is_returned",
            ),
        ]
