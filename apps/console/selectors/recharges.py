"""Recharges before and after they happen."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, F, Q, Sum, When

from apps.billing import selectors as funds
from apps.billing.choices import TransferKind
from apps.billing.models import Transfer
from apps.billing.selectors import Wallet
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recharge with the wallet's balance around it, in the order of the ledger (fen)."""

    transfer: Transfer
    before_fen: int

    @property
    def after_fen(self) -> int:
        return self.before_fen + self.transfer.amount_fen


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
    account = transfer.credit_id
    earlier = Transfer.objects.filter(Q(credit_id=account) | Q(debit_id=account), pk__lt=transfer.pk)
    signed = Case(When(credit_id=account, then=F("amount_fen")), default=-F("amount_fen"))
    return Receipt(transfer, int(earlier.aggregate(fen=Sum(signed))["fen"] or 0))
