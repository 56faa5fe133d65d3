"""Recharges that two people decide on, and the documents that prove a payment."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.billing.change_choices import AloneKind
from apps.billing.choices import NOTES, PaymentMethod, RechargeKind, RequestState
from apps.billing.models.ledger import Transfer
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class RechargeRequest(TenantModel):
    """A recharge above what one person may record alone, the reversal of one that was recorded wrongly, a refund by
    Alipay, a voucher or an adjustment of the bill above the same limit.

    Only `payments.recharge_review` changes the state. `transfer` is what the approval moved. `terms`: of a voucher, as
    `VoucherSpec` writes them; its `reference` is the key of the form that asked.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=RechargeKind)
    amount_fen = models.BigIntegerField()
    reference = models.CharField(_("reference"), max_length=80)
    note = models.CharField(_("note"), max_length=300, blank=True)
    reverses = models.ForeignKey(Transfer, on_delete=models.PROTECT, null=True, related_name="reversals")
    terms = models.JSONField(null=True)
    state = models.CharField(max_length=12, choices=RequestState, default=RequestState.PENDING)
    requested_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    answer = models.CharField(_("answer"), max_length=500, blank=True)
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="recharge_request")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["state", "-created_at"], name="recharge_request_state")]
        constraints = [
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="recharge_request_positive"),
            models.CheckConstraint(
                condition=Q(kind__in=[RechargeKind.RECHARGE, RechargeKind.VOUCHER, *NOTES], reverses__isnull=True)
                | Q(kind__in=[RechargeKind.REVERSAL, RechargeKind.REFUND], reverses__isnull=False),
                name="recharge_request_reverses_one",
            ),
            models.UniqueConstraint(
                fields=["organisation", "reference"],
                condition=Q(kind=RechargeKind.RECHARGE, state=RequestState.PENDING),
                name="recharge_request_one_pending",
            ),
            models.UniqueConstraint(
                fields=["organisation", "reference"],
                condition=Q(kind__in=NOTES, state=RequestState.PENDING),
                name="adjustment_request_one_pending",
            ),
            models.UniqueConstraint(
                fields=["reverses"],
                condition=Q(kind=RechargeKind.REVERSAL, state__in=[RequestState.PENDING, RequestState.APPROVED]),
                name="recharge_reversed_once",
            ),
            models.CheckConstraint(
                condition=Q(kind=RechargeKind.VOUCHER, terms__isnull=False)
                | (~Q(kind=RechargeKind.VOUCHER) & Q(terms__isnull=True)),
                name="recharge_request_terms_of_voucher",
            ),
            models.UniqueConstraint(
                fields=["organisation", "reference"],
                condition=Q(kind=RechargeKind.VOUCHER),
                name="voucher_asked_once",
            ),
            # Parts of a payment may be given back one after the other.
            models.UniqueConstraint(
                fields=["reverses"],
                condition=Q(kind=RechargeKind.REFUND, state=RequestState.PENDING),
                name="refund_request_one_pending",
            ),
            models.CheckConstraint(
                condition=Q(state=RequestState.PENDING, decided_at__isnull=True)
                | (~Q(state=RequestState.PENDING) & Q(decided_at__isnull=False)),
                name="recharge_request_decided_has_time",
            ),
            models.CheckConstraint(
                condition=Q(state=RequestState.APPROVED, transfer__isnull=False)
                | (~Q(state=RequestState.APPROVED) & Q(transfer__isnull=True)),
                name="recharge_request_approved_moved",
            ),
            # Two people: whoever asked is not who approves.
            models.CheckConstraint(
                condition=~Q(state=RequestState.APPROVED, decided_by=models.F("requested_by")),
                name="recharge_request_two_people",
            ),
        ]

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.get_kind_display()) if self.kind == RechargeKind.VOUCHER else self.reference


class ReceivedPayment(TenantModel):
    """When, from whom and how the payment came that a reference names. Written by `recharges.received` alone."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    reference = models.CharField(max_length=80)
    paid_on = models.DateField()
    payer = models.CharField(max_length=120)
    method = models.CharField(max_length=12, choices=PaymentMethod)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "reference"], name="received_payment_once"),
        ]


class AloneAct(TenantModel):
    """What one person granted without a second: what they grant on one day of the billing zone counts together.

    Added by `payments.alone` in the transaction that grants, never changed.
    """

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    day = models.DateField()
    kind = models.CharField(max_length=12, choices=AloneKind)
    amount_fen = models.BigIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["user", "day"], name="alone_act_of_day")]
        constraints = [models.CheckConstraint(condition=Q(amount_fen__gt=0), name="alone_act_positive")]


class PaymentProof(TenantModel):
    """A document about the payment that a reference names: never changed, never removed.

    Kept in the database, so that one backup holds the money and its proofs; small by `payments.proofs.MAX_BYTES`.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    reference = models.CharField(max_length=80)
    name = models.CharField(max_length=120)
    media_type = models.CharField(max_length=40)
    digest = models.CharField(max_length=64)  # SHA-256, hexadecimal
    size = models.PositiveIntegerField()
    content = models.BinaryField()
    uploaded_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "reference", "digest"], name="payment_proof_once"),
        ]
