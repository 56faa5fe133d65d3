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
from apps.billing.choices import AccountKind, NoticeOutcome, TopUpStatus, TransferKind
from apps.billing.ledger.services import Posting, clearing_and_wallet, post
from apps.billing.models import TopUpOrder
from apps.billing.payments.alipay import numbers
from apps.billing.payments.alipay.client import Client, OutcomeUnknown, Refused, Trade
from apps.billing.payments.alipay.heard import keep_notice
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

# The gateway is first asked this long after the start, unless its notice has arrived.
FIRST_ASKED = timedelta(minutes=1)
OPEN_AT_ONCE = 5
PAID_WORDS = frozenset({"TRADE_SUCCESS", "TRADE_FINISHED"})


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the gateway sends its notices and the browser afterwards, absolute."""

    notify: str
    back: str


class Mismatch(Exception):
    """A signed answer about one of our orders that names another amount. Staff must look at it."""


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


def handle_notice(notice: TradeNotice) -> bool:
    """Act on a verified notice and keep it; True if it credited the payment. One about a refund changes nothing."""
    try:
        return settle(Trade(notice.out_trade_no, notice.trade_no, notice.status, notice.total_fen), notice)
    except Mismatch:
        with acting(system_actor()):
            order = TopUpOrder.objects.get(out_trade_no=notice.out_trade_no)
            keep_notice(order, notice, NoticeOutcome.OTHER_AMOUNT)
        raise


def refresh(order: TopUpOrder) -> TopUpOrder:
    """Ask the gateway about an unpaid order and act on the answer. Raises `OutcomeUnknown` if there is none."""
    ask(order)
    order.refresh_from_db()
    return order


def ask(order: TopUpOrder) -> Trade | None:
    """The gateway's answer about an order, acted upon; None: unknown there. Raises as `Client.query` and `settle`."""
    trade = client().query(order.out_trade_no)
    if trade is not None:
        settle(trade)
    elif order.expires_at <= db_now():
        _close(order)
    return trade


def settle(trade: Trade, notice: TradeNotice | None = None) -> bool:
    """Bring the order to the state that the gateway reports; True if that credited it. Safe to repeat in any order.

    Runs as the platform: the money comes from an account of its own. Raises `NotFound` for an order that is not ours
    and `Mismatch` for another amount; nothing is written then. `notice` is kept in the transaction that credits: the
    gateway waits for one commit.
    """
    with acting(system_actor()) as actor, transaction.atomic():
        order = TopUpOrder.objects.select_for_update().filter(out_trade_no=trade.out_trade_no).order_by().first()
        if order is None:
            raise NotFound
        if trade.total_fen != order.amount_fen:
            raise Mismatch(trade.out_trade_no)
        credits = order.status != TopUpStatus.PAID and trade.status in PAID_WORDS
        if credits:
            _credit(actor, order, trade)
        elif order.status != TopUpStatus.PAID and trade.status == "TRADE_CLOSED":
            _close_row(actor, order)
        if notice is not None:
            keep_notice(order, notice, NoticeOutcome.CREDITED if credits else NoticeOutcome.NOTHING)
        return credits


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
    except OutcomeUnknown as unknown:
        raise no_answer() from unknown
    try:
        return refresh(order)
    except OutcomeUnknown as unknown:
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


def adjust_refunded(order: TopUpOrder, fen: int) -> bool:
    """Reserve `fen` of an order for a refund, or release them (below zero); False if more than what is left."""
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
