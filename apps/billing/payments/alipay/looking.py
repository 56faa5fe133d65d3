"""Payments by Alipay as the platform's finance staff look into them: all, one, and asking Alipay about it again."""

from dataclasses import dataclass

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from apps.audit.models import Entry
from apps.billing.bill_choices import BillItemKind
from apps.billing.models import BillItem, TopUpNotice, TopUpOrder, TopUpRefund
from apps.billing.payments.alipay import orders
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission

# The entries of the log that begin a payment, however it came here.
_BEGINNINGS = ("billing.alipay.started", "billing.alipay.adopted")


@dataclass(frozen=True, slots=True)
class Answer:
    """The gateway's answer about a payment: its state as the gateway names it and its amount; None: unknown there."""

    status: str
    fen: int | None


def payments(actor: Actor) -> QuerySet[TopUpOrder]:
    """Every payment by Alipay, newest first, with what reconciliation said (`outcome`, None: not compared yet;
    `item_closed_at`, set where staff have closed it with a note) and how it was started (`channel`, None: not known).
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    compared = BillItem.objects.filter(kind=BillItemKind.PAYMENT, out_trade_no=OuterRef("out_trade_no"))
    begun = Entry.objects.filter(target_type="payment", target_id=OuterRef("out_trade_no"), action__in=_BEGINNINGS)
    return orders.orders(actor).annotate(
        outcome=Subquery(compared.order_by("pk").values("outcome")[:1]),
        item_closed_at=Subquery(compared.order_by("pk").values("closed_at")[:1]),
        channel=Subquery(begun.order_by("pk").values("channel")[:1]),
    )


def payment(actor: Actor, out_trade_no: str) -> TopUpOrder:
    """One of them; `NotFound` otherwise."""
    found: TopUpOrder | None = payments(actor).filter(out_trade_no=out_trade_no).first()
    if found is None:
        raise NotFound
    return found


def heard_of(order: TopUpOrder) -> QuerySet[TopUpNotice]:
    """The gateway's notices about it, oldest first."""
    rows: QuerySet[TopUpNotice] = TopUpNotice.objects.filter(order=order).order_by("at", "pk")
    return rows


def refunds_of(order: TopUpOrder) -> QuerySet[TopUpRefund]:
    """What was given back of it, oldest first."""
    rows: QuerySet[TopUpRefund] = TopUpRefund.objects.filter(order=order).order_by("created_at", "pk")
    return rows


def compared_of(order: TopUpOrder) -> QuerySet[BillItem]:
    """What reconciliation said about it and its refunds."""
    rows: QuerySet[BillItem] = BillItem.objects.filter(out_trade_no=order.out_trade_no).select_related("closed_by")
    return rows.order_by("day", "pk")


def ask_again(actor: Actor, out_trade_no: str) -> Answer:
    """Ask the gateway about a payment, and act on its answer as its notice would: credit it, or close it.

    Raises `Unavailable` without an answer, `Conflict` where the gateway refuses or knows another amount.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    order = payment(actor, out_trade_no)
    try:
        trade = orders.ask(order)
    except OutcomeUnknown as unknown:
        raise orders.no_answer() from unknown
    except Refused as refusal:
        raise Conflict(_("Alipay refuses: %(words)s") % {"words": str(refusal)}) from refusal
    except orders.Mismatch as error:
        raise Conflict(_("Our order is about another amount.")) from error
    return Answer(trade.status, trade.total_fen) if trade else Answer("", None)
