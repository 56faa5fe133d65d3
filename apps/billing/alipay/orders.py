"""Top-ups from the first click to the credit. The only place that changes an order's status.

A payment is credited once, whoever tells of it first: the notice, a query after the buyer came back, or the polling.
All lock the order and post under the key `topup:alipay:<out_trade_no>`. What the browser says credits nothing.
"""

import logging
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.alipay.client import Client, Refused, Trade, Unknown
from apps.billing.alipay.notices import TradeNotice
from apps.billing.alipay.settings import AlipaySettings
from apps.billing.choices import AccountKind, TopUpStatus, TransferKind
from apps.billing.models import TopUpOrder
from apps.billing.services.arrears import reassess
from apps.billing.services.ledger import Posting, organisation_account, platform_account, post
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.services import notify_organisation
from apps.tenants import settings

log = logging.getLogger(__name__)

# Minutes after the start at which an open order is asked about, unless its notice has come; then once it has expired.
ASK_AFTER = (1, 5, 15, 60)
# After its expiry the gateway is asked this often before staff have to look.
ASK_AGAIN = timedelta(minutes=30)
MOST_QUERIES = 40
OPEN_AT_ONCE = 5
PAID_WORDS = frozenset({"TRADE_SUCCESS", "TRADE_FINISHED"})
PREFIX = "PL"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the gateway sends its notices and the browser afterwards, absolute."""

    notify: str
    back: str


class Mismatch(Exception):
    """A signed word about one of our orders that cannot be about it: another amount. Staff have to look."""


def client() -> Client:
    """Raises `Unavailable` where payments by Alipay are not set up."""
    found = settings.get(AlipaySettings)
    if not found.is_ready:
        raise Unavailable(_("Payment by Alipay is not set up."), hint=_("Ask the platform's administrators."))
    return Client(found, db_now)


def start(actor: Actor, *, amount_fen: int) -> TopUpOrder:
    """A new order of the actor's organisation. Raises `Invalid` outside the limits, `Conflict` with too many open."""
    actor.require(Permission.BILLING_TOP_UP)
    wanted = settings.get(AlipaySettings)
    if not wanted.is_ready:
        raise Unavailable(_("Payment by Alipay is not set up."), hint=_("Ask the platform's administrators."))
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
        out_trade_no=f"{PREFIX}{now:%Y%m%d%H%M%S}{secrets.token_hex(8)}",
        amount_fen=amount_fen,
        expires_at=now + timedelta(minutes=wanted.expire_minutes),
        next_query_at=now + timedelta(minutes=ASK_AFTER[0]),
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
        rows = TopUpOrder.objects.select_for_update(of=("self",)).select_related("organisation")
        order = rows.filter(out_trade_no=trade.out_trade_no).first()
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
        raise _no_answer() from unknown
    try:
        return refresh(order)
    except Unknown as unknown:
        raise _no_answer() from unknown


def ask_due(*, limit: int = 20) -> int:
    """Ask about open orders whose time has come; the number asked. Nobody's trouble keeps the others waiting."""
    if not settings.get(AlipaySettings).is_ready:
        return 0
    due = [_next(pk) for pk in _due(limit)]
    for order in due:
        if order is not None:
            _ask(order)
    return len(due)


def _due(limit: int) -> list[int]:
    rows = TopUpOrder.objects.filter(next_query_at__lte=db_now()).order_by("next_query_at")
    return list(rows.values_list("pk", flat=True)[:limit])


def _next(pk: int) -> TopUpOrder | None:
    """Claim it: the next time is written before the gateway is asked, so that a death in between repeats nothing."""
    with transaction.atomic():
        now = db_now()
        rows = TopUpOrder.objects.select_for_update(skip_locked=True)
        found: TopUpOrder | None = rows.filter(pk=pk, next_query_at__lte=now).first()
        if found is not None:
            found.queries += 1
            found.next_query_at = next_query(found, now)
            found.save(update_fields=["queries", "next_query_at"])
        return found


def next_query(order: TopUpOrder, now: datetime) -> datetime | None:
    """After 1, 5, 15 and 60 minutes and at the expiry; then every half hour, until `MOST_QUERIES`."""
    planned = [order.created_at + timedelta(minutes=each) for each in ASK_AFTER]
    later = [at for at in (*planned, order.expires_at + timedelta(minutes=1)) if at > now]
    if later:
        return min(later)
    return now + ASK_AGAIN if order.queries < MOST_QUERIES else None


def _ask(order: TopUpOrder) -> None:
    try:
        refresh(order)
    except (Unknown, Refused) as error:
        log.info("top-up %s: %s", order.out_trade_no, error)
    except Mismatch:
        log.error("top-up %s: the gateway knows another amount", order.out_trade_no)


def _credit(actor: Actor, order: TopUpOrder, trade: Trade) -> None:
    organisation_id: UUID = order.organisation_id
    moved = post(
        actor,
        posting=Posting(
            debit=platform_account(AccountKind.ALIPAY_CLEARING),
            credit=organisation_account(organisation_id, AccountKind.CASH),
            amount_fen=order.amount_fen,
            kind=TransferKind.TOP_UP,
            idem=f"topup:alipay:{order.out_trade_no}",
            ref=order.out_trade_no,
            note="Alipay",
        ),
    )
    before, now = order.status, db_now()
    order.status, order.transfer, order.trade_no = TopUpStatus.PAID, moved, trade.trade_no
    order.paid_at, order.next_query_at = now, None
    order.save(update_fields=["status", "transfer", "trade_no", "paid_at", "next_query_at"])
    _log(actor, order, "paid", before={"status": before}, after={"status": order.status, "trade_no": trade.trade_no})
    reassess(actor, organisation_id=organisation_id, now=now)
    notify_organisation(
        organisation_id=organisation_id,
        kind="billing.topped_up",
        data={"amount_fen": order.amount_fen},
        dedup=f"topup:{order.out_trade_no}",
    )


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


def still_open(actor: Actor) -> int:
    """Orders that nobody asks about any more although they are neither paid nor closed: staff have to look."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    return TopUpOrder.objects.filter(status=TopUpStatus.OPEN, next_query_at__isnull=True, queries__gt=0).count()


def refunded(order: TopUpOrder, fen: int) -> bool:
    """Take `fen` from what may still be given back of an order, or give it back (below zero); False beyond it."""
    rows = TopUpOrder.objects.filter(pk=order.pk, status=TopUpStatus.PAID, refunded_fen__lte=F("amount_fen") - fen)
    return bool(rows.update(refunded_fen=F("refunded_fen") + fen))


def _no_answer() -> Unavailable:
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
