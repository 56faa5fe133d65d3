"""Top-ups from the first click to the credit. The only place that changes an order's status.

A payment is credited once, whoever tells of it first: the notice, a query after the buyer came back, or the polling.
All lock the order and post under the key `topup:alipay:<out_trade_no>`. What the browser says credits nothing.

The gateway waits for the commit that credits, and for nothing else: people are told afterwards (`payment_notices`).
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.arrears.services import relieve
from apps.billing.choices import AccountKind, TopUpStatus, TransferKind
from apps.billing.ledger.services import Posting, clearing_and_wallet, post
from apps.billing.models import TopUpOrder
from apps.billing.payments.alipay import numbers
from apps.billing.payments.alipay.client import Client, Refused, Trade, Unknown
from apps.billing.payments.alipay.notices import TradeNotice
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.models import Organisation

# The gateway is first asked this long after the start, unless the notice has come.
FIRST_ASKED = timedelta(minutes=1)
OPEN_AT_ONCE = 5
PAID_WORDS = frozenset({"TRADE_SUCCESS", "TRADE_FINISHED"})


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the gateway sends its notices and the browser afterwards, absolute."""

    notify: str
    back: str


class Mismatch(Exception):
    """A signed word about one of our orders that cannot be about it: another amount. Staff have to look."""


def client() -> Client:
    """Raises `Conflict` where payments by Alipay are not set up."""
    found = settings.get(AlipaySettings)
    if not found.is_ready:
        raise Conflict(_("Payment by Alipay is not set up."), hint=_("Ask the platform's administrators."))
    return Client(found, db_now)


def start(actor: Actor, *, amount_fen: int) -> TopUpOrder:
    """A new order of the actor's organisation. Raises `Invalid` outside the limits, `Conflict` with too many open."""
    actor.require(Permission.BILLING_TOP_UP)
    wanted = settings.get(AlipaySettings)
    if not wanted.is_ready:
        raise Conflict(_("Payment by Alipay is not set up."), hint=_("Ask the platform's administrators."))
    if not wanted.least_fen <= amount_fen <= wanted.most_fen:
        words = _("From %(least)s to %(most)s at a time.")
        raise Invalid.field("amount", words % {"least": yuan(wanted.least_fen), "most": yuan(wanted.most_fen)})
    now = db_now()
    mine = TopUpOrder.objects.filter(organisation_id=actor.organisation(), user_id=actor.person())
    if mine.filter(status=TopUpStatus.OPEN, expires_at__gt=now).count() >= OPEN_AT_ONCE:
        raise Conflict(_("You have several unpaid top-ups."), hint=_("Pay or cancel one of them first."))
    made: TopUpOrder = TopUpOrder.objects.create(
        organisation_id=actor.organisation(),
        user_id=actor.person(),
        out_trade_no=numbers.order_number(actor.organisation(), now),
        amount_fen=amount_fen,
        expires_at=now + timedelta(minutes=wanted.expire_minutes),
        next_query_at=now + FIRST_ASKED,
    )
    _log(actor, made, "started", after={"amount_fen": amount_fen})
    return made


def pay_url(actor: Actor, order: TopUpOrder, addresses: Addresses) -> str:
    """The gateway's page for an order that can still be paid; `Conflict` otherwise."""
    if order.status != TopUpStatus.OPEN or order.expires_at <= db_now():
        raise Conflict(_("This top-up can no longer be paid."), hint=_("Start a new one."))
    return client().pay_url(
        order.out_trade_no,
        order.amount_fen,
        _("Top-up of the wallet"),
        order.expires_at,
        notify_url=addresses.notify,
        return_url=addresses.back,
    )


def orders(actor: Actor) -> QuerySet[TopUpOrder]:
    """The organisation's, newest first; all of them for the platform's finance staff."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    rows: QuerySet[TopUpOrder] = TopUpOrder.objects.select_related("user", "organisation")
    return rows.order_by("-created_at", "-pk")


def order(actor: Actor, out_trade_no: str) -> TopUpOrder:
    """One of them; `NotFound` otherwise."""
    found = orders(actor).filter(out_trade_no=out_trade_no).first()
    if found is None:
        raise NotFound
    return found


def told(notice: TradeNotice) -> bool:
    """What follows from a believed notice; True where it credited. A refund's notice leaves the payment as it is."""
    return settle(Trade(notice.out_trade_no, notice.trade_no, notice.status, notice.total_fen))


def refresh(order: TopUpOrder) -> TopUpOrder:
    """Ask the gateway about an order that is not paid and do what follows. Raises `Unknown` where nothing is known."""
    trade = client().query(order.out_trade_no)
    if trade is not None:
        settle(trade)
    elif order.expires_at <= db_now():
        _close(order)
    order.refresh_from_db()
    return order


def settle(trade: Trade) -> bool:
    """Bring the order to what the gateway knows; True where that credited it. Safe to repeat in any order.

    Runs as the platform: the money comes from an account of its own. Raises `NotFound` for an order that is not ours
    and `Mismatch` for another amount; nothing is written then.
    """
    with acting(system_actor()) as actor, transaction.atomic():
        order = TopUpOrder.objects.select_for_update().filter(out_trade_no=trade.out_trade_no).order_by().first()
        if order is None:
            raise NotFound
        if trade.total_fen != order.amount_fen:
            raise Mismatch(trade.out_trade_no)
        if order.status == TopUpStatus.PAID:
            return False
        if trade.status in PAID_WORDS:
            _credit(actor, order, trade)
            return True
        if trade.status == "TRADE_CLOSED":
            _close_row(actor, order)
        return False


def adopt(actor: Actor, *, trade: Trade, organisation_id: UUID) -> TopUpOrder:
    """The row of a payment that the gateway knows and we do not, as after the restore of a backup; then `settle` it.

    The same again finds the row that is there; `NotFound` without the organisation, `Conflict` where it is another's.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    if not Organisation.objects.filter(pk=organisation_id).exists():
        raise NotFound
    row: tuple[TopUpOrder, bool] = TopUpOrder.objects.get_or_create(
        out_trade_no=trade.out_trade_no,
        defaults={"organisation_id": organisation_id, "amount_fen": trade.total_fen, "expires_at": db_now()},
    )
    if row[0].organisation_id != organisation_id:
        raise Conflict(_("This payment belongs to another organisation."))
    if row[1]:
        _log(actor, row[0], "adopted", after={"amount_fen": trade.total_fen, "trade_no": trade.trade_no})
    return row[0]


def cancel(actor: Actor, order: TopUpOrder) -> TopUpOrder:
    """Close an unpaid order at the gateway and here. One that was paid meanwhile is credited instead.

    Raises `Unavailable` where the gateway does not answer: then it stays open and is asked about again.
    """
    actor.require(Permission.BILLING_TOP_UP)
    try:
        client().close(order.out_trade_no)
        _close(order)
        order.refresh_from_db()
        return order
    except Refused:
        pass  # paid or closed already: the gateway says which
    except Unknown as unknown:
        raise no_answer() from unknown
    try:
        return refresh(order)
    except Unknown as unknown:
        raise no_answer() from unknown


def _credit(actor: Actor, order: TopUpOrder, trade: Trade) -> None:
    organisation_id: UUID = order.organisation_id
    clearing, wallet = clearing_and_wallet(AccountKind.ALIPAY_CLEARING, organisation_id)
    moved = post(
        actor,
        refusal_ends_all=True,
        posting=Posting(
            debit=clearing,
            credit=wallet,
            amount_fen=order.amount_fen,
            kind=TransferKind.TOP_UP,
            idem=f"topup:alipay:{order.out_trade_no}",
            ref=order.out_trade_no,
            note="Alipay",
        ),
    )
    before = order.status
    order.status, order.transfer, order.trade_no = TopUpStatus.PAID, moved, trade.trade_no
    order.paid_at, order.next_query_at, order.untold = moved.at, None, True
    order.save(update_fields=["status", "transfer", "trade_no", "paid_at", "next_query_at", "untold"])
    _log(actor, order, "paid", before={"status": before}, after={"status": order.status, "trade_no": trade.trade_no})
    relieve(actor, organisation_id=organisation_id)


def _close(order: TopUpOrder) -> None:
    with acting(system_actor()) as actor, transaction.atomic():
        locked = TopUpOrder.objects.select_for_update(of=("self",)).select_related("organisation").get(pk=order.pk)
        if locked.status == TopUpStatus.OPEN:
            _close_row(actor, locked)


def _close_row(actor: Actor, order: TopUpOrder) -> None:
    if order.status != TopUpStatus.OPEN:
        return
    order.status, order.closed_at, order.next_query_at = TopUpStatus.CLOSED, db_now(), None
    order.save(update_fields=["status", "closed_at", "next_query_at"])
    _log(actor, order, "closed", before={"status": TopUpStatus.OPEN}, after={"status": order.status})


def refunded(order: TopUpOrder, fen: int) -> bool:
    """Take `fen` from what may still be given back of an order, or give it back (below zero); False beyond it."""
    rows = TopUpOrder.objects.filter(pk=order.pk, status=TopUpStatus.PAID, refunded_fen__lte=F("amount_fen") - fen)
    return bool(rows.update(refunded_fen=F("refunded_fen") + fen))


def no_answer() -> Unavailable:
    return Unavailable(_("Alipay does not answer now."), hint=_("Nothing was changed. Try again in a minute."))


def _log(
    actor: Actor,
    order: TopUpOrder,
    verb: str,
    *,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    record(
        actor,
        action=f"billing.alipay.{verb}",
        target=Target("payment", order.out_trade_no, order.out_trade_no),
        organisation_id=order.organisation_id,
        before=before,
        after=after,
    )
