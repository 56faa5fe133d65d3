"""Recharges before and after they happen."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, Sum, When

from apps.billing import selectors as funds
from apps.billing.choices import RequestState, TransferKind
from apps.billing.models import RechargeRequest, Transfer, Voucher
from apps.billing.payments.recharge_review.records import spec_of
from apps.billing.selectors import Wallet
from apps.billing.vouchers.terms import planned
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
    """Fen into the wallet; below zero where they were taken back."""
    return -transfer.amount_fen if transfer.kind == TransferKind.REFUND else transfer.amount_fen


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
    return planned(found.organisation, spec_of(found))


def asked_as(transfer: Transfer) -> RechargeRequest | None:
    """The request whose approval moved this, where two people decided on it."""
    rows = RechargeRequest.objects.filter(transfer=transfer).select_related("requested_by", "decided_by")
    found: RechargeRequest | None = rows.first()
    return found


def recorded(actor: Actor, *, organisation_id: UUID, reference: str) -> Transfer | None:
    """The recharge of this organisation that bears this reference already."""
    actor.require(Permission.PLATFORM_RECHARGE)
    rows = Transfer.objects.filter(organisation_id=organisation_id, kind=TransferKind.TOP_UP, ref=reference.strip())
    found: Transfer | None = rows.first()
    return found


def wallet(actor: Actor, organisation_id: UUID) -> Wallet:
    return funds.wallet(actor, organisation_id=organisation_id)


def receipt(actor: Actor, transfer_id: int) -> Receipt:
    """One recharge; the balance before it is the sum of all that the ledger holds before it."""
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
