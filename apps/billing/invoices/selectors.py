"""Invoices, their titles and files, and how much may still be invoiced."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from apps.billing.choices import AccountKind
from apps.billing.invoice_choices import CLAIMING, InvoiceState
from apps.billing.models import Invoice, InvoiceFile, InvoiceTitle, Transfer
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission

# Where money is before it is in a wallet and after it has left for good: what lies between is what was paid. Vouchers
# and corrections of charges never pass here.
OUTSIDE = (AccountKind.ALIPAY_CLEARING, AccountKind.OFFLINE_CLEARING, AccountKind.REFUND_CLEARING)
PAID_IN = Q(debit__kind__in=OUTSIDE, credit__kind=AccountKind.CASH)
PAID_OUT = Q(debit__kind=AccountKind.CASH, credit__kind__in=OUTSIDE)


@dataclass(frozen=True, slots=True)
class Headroom:
    """Fen: paid in less refunds; claimed by requests and invoices; of that, issued."""

    paid_fen: int
    claimed_fen: int
    issued_fen: int

    @property
    def available_fen(self) -> int:
        """What may still be asked for."""
        return max(0, self.paid_fen - self.claimed_fen)

    @property
    def excess_fen(self) -> int:
        """What is claimed beyond what was paid, because money was refunded afterwards."""
        return max(0, self.claimed_fen - self.paid_fen)


@dataclass(frozen=True, slots=True)
class Excess:
    organisation_id: UUID
    name: str
    excess_fen: int


def invoicing_headroom(actor: Actor, *, organisation_id: UUID | None = None) -> Headroom:
    """The actor's own organisation's; finance staff of the platform name one."""
    if actor.platform:
        actor.require(Permission.PLATFORM_FINANCE_VIEW)
        return headroom_of(organisation_id or actor.organisation())
    actor.require(Permission.BILLING_VIEW)
    return headroom_of(actor.organisation())


def headroom_of(organisation_id: UUID) -> Headroom:
    """Hold the wallet's lock to decide by it. The caller has checked that the actor may see it."""
    moved = Transfer.objects.filter(organisation_id=organisation_id).aggregate(
        paid=Sum("amount_fen", filter=PAID_IN), back=Sum("amount_fen", filter=PAID_OUT)
    )
    claimed = Invoice.objects.filter(organisation_id=organisation_id, state__in=CLAIMING).aggregate(
        fen=Sum("amount_fen"), issued=Sum("amount_fen", filter=Q(state=InvoiceState.ISSUED))
    )
    return Headroom((moved["paid"] or 0) - (moved["back"] or 0), claimed["fen"] or 0, claimed["issued"] or 0)


def excesses(actor: Actor) -> list[Excess]:
    """Organisations that got money back after it was invoiced: part of their invoices must be cancelled."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows = Invoice.objects.filter(state__in=CLAIMING).order_by().values("organisation_id", "organisation__name")
    claimed = {row["organisation_id"]: row for row in rows.annotate(fen=Sum("amount_fen"))}
    paid = _paid(claimed)
    found = [
        Excess(key, row["organisation__name"], row["fen"] - paid.get(key, 0))
        for key, row in claimed.items()
        if row["fen"] > paid.get(key, 0)
    ]
    return sorted(found, key=lambda each: -each.excess_fen)


def _paid(organisation_ids: Iterable[UUID]) -> dict[UUID, int]:
    rows = Transfer.objects.filter(PAID_IN | PAID_OUT, organisation_id__in=list(organisation_ids)).order_by()
    sums = rows.values("organisation_id").annotate(
        paid=Sum("amount_fen", filter=PAID_IN), back=Sum("amount_fen", filter=PAID_OUT)
    )
    return {row["organisation_id"]: (row["paid"] or 0) - (row["back"] or 0) for row in sums}


def titles(actor: Actor) -> QuerySet[InvoiceTitle]:
    """The organisation's titles without archived ones."""
    actor.require(Permission.BILLING_VIEW)
    rows: QuerySet[InvoiceTitle] = InvoiceTitle.objects.filter(
        organisation_id=actor.organisation(), removed_at__isnull=True
    )
    return rows.order_by("-created_at", "-pk")


def title(actor: Actor, title_id: UUID) -> InvoiceTitle:
    """One of them; `NotFound` otherwise."""
    found = titles(actor).filter(pk=title_id).first()
    if found is None:
        raise NotFound
    return found


def invoices(actor: Actor) -> QuerySet[Invoice]:
    """The organisation's, newest first; all of them for the platform's finance staff."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    rows: QuerySet[Invoice] = Invoice.objects.select_related(
        "organisation", "requested_by", "decided_by", "issued_by", "voided_by"
    )
    return rows.order_by("-created_at", "-pk")


def invoice(actor: Actor, invoice_id: UUID) -> Invoice:
    """One of them; `NotFound` otherwise."""
    found = invoices(actor).filter(pk=invoice_id).first()
    if found is None:
        raise NotFound
    return found


def files(actor: Actor, found: Invoice) -> QuerySet[InvoiceFile]:
    """The files of an invoice that the actor has, without their contents."""
    rows: QuerySet[InvoiceFile] = InvoiceFile.objects.filter(invoice=found)
    return rows.defer("content").select_related("uploaded_by")


def file(actor: Actor, file_id: int) -> InvoiceFile:
    """One file with its content, of an invoice that the actor may see."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    found: InvoiceFile | None = InvoiceFile.objects.filter(pk=file_id).first()
    if found is None:
        raise NotFound
    return found
