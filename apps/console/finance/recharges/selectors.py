"""Recharges before and after they happen."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, Sum, When

from apps.billing import selectors as funds
from apps.billing.choices import PaymentMethod, RechargeKind, RequestState, TransferKind
from apps.billing.models import ReceivedPayment, RechargeRequest, Transfer, Voucher
from apps.billing.payments.recharge_review.records import spec_of
from apps.billing.selectors import Wallet
from apps.billing.vouchers.terms import unsaved_voucher
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recharge with the wallet's balance around it, in the order of the ledger (fen)."""

    transfer: Transfer
    before_fen: int

    reversal: RechargeRequest | None = None

    @property
    def after_fen(self) -> int:
        return self.before_fen + into_wallet(self.transfer)

    @property
    def is_offline(self) -> bool:
        """Whether staff recorded it, and so may reverse it."""
        return self.transfer.kind == TransferKind.TOP_UP and self.transfer.idem.startswith("topup:offline:")


def into_wallet(transfer: Transfer) -> int:
    """Fen into the wallet; below zero if they were taken back."""
    return -transfer.amount_fen if transfer.kind == TransferKind.REFUND else transfer.amount_fen


def method_label(row: Any) -> str:
    """How the payment came; empty where it is not known."""
    method = getattr(row, "method", None)
    return str(PaymentMethod(method).label) if method else ""


def received_of(found: RechargeRequest) -> ReceivedPayment | None:
    """What is known of the payment that a request for a recharge names."""
    if found.kind != RechargeKind.RECHARGE:
        return None
    row: ReceivedPayment | None = ReceivedPayment.objects.filter(
        organisation_id=found.organisation_id, reference=found.reference
    ).first()
    return row


def waiting(actor: Actor) -> QuerySet[RechargeRequest]:
    """Requests that wait for a second person, oldest last."""
    return requests(actor).filter(state=RequestState.PENDING)


def requests(actor: Actor) -> QuerySet[RechargeRequest]:
    """All of them, newest first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[RechargeRequest] = RechargeRequest.objects.select_related(
        "organisation", "requested_by", "decided_by", "transfer__voucher"
    )
    return rows.order_by("-created_at", "-pk")


def request_of(actor: Actor, request_id: UUID) -> RechargeRequest:
    """One of them; `NotFound` otherwise."""
    found = requests(actor).filter(pk=request_id).first()
    if found is None:
        raise NotFound
    return found


def voucher_of(found: RechargeRequest) -> Voucher | None:
    """The voucher that a request asks for, as it would be granted; None for a request for anything else."""
    if found.terms is None:
        return None
    return unsaved_voucher(found.organisation, spec_of(found))


def request_behind(transfer: Transfer) -> RechargeRequest | None:
    """The request whose approval made this transfer, if two people decided on it."""
    rows = RechargeRequest.objects.filter(transfer=transfer).select_related("requested_by", "decided_by")
    found: RechargeRequest | None = rows.first()
    return found


def find_by_reference(actor: Actor, *, organisation_id: UUID, reference: str) -> Transfer | None:
    """The organisation's recharge with this reference, if there is one."""
    actor.require(Permission.PLATFORM_RECHARGE)
    rows = Transfer.objects.filter(organisation_id=organisation_id, kind=TransferKind.TOP_UP, ref=reference.strip())
    found: Transfer | None = rows.first()
    return found


def wallet(actor: Actor, organisation_id: UUID) -> Wallet:
    return funds.wallet(actor, organisation_id=organisation_id)


def receipt(actor: Actor, transfer_id: int) -> Receipt:
    """One recharge; the balance before it is the sum of all earlier ledger entries."""
    transfer = funds.recharges(actor).filter(pk=transfer_id).first()
    if transfer is None:
        raise NotFound
    account = transfer.debit_id if transfer.kind == TransferKind.REFUND else transfer.credit_id
    earlier = Transfer.objects.filter(Q(credit_id=account) | Q(debit_id=account), pk__lt=transfer.pk)
    signed = Case(When(credit_id=account, then=F("amount_fen")), default=-F("amount_fen"))
    reversal = RechargeRequest.objects.filter(
        reverses=transfer, state__in=[RequestState.PENDING, RequestState.APPROVED]
    ).first()
    return Receipt(transfer, int(earlier.aggregate(fen=Sum(signed))["fen"] or 0), reversal)
