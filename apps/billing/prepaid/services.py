"""Buying time in advance: orders and their renewals. The money goes from the wallet to what is deferred.

Every function locks the wallet first and the order second, as all decisions about money do. An order's purchases follow
each other without a gap, so renewing never moves a period.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.choices import AccountKind, PrepaidEnd, PrepaidStatus, Term, TransferKind
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, post
from apps.billing.models import Account, PrepaidOrder, PrepaidPurchase, TermPrice, Transfer
from apps.billing.periods import DAY, period_start, tenth_of
from apps.billing.prepaid.selectors import check_size, next_period, offer_to
from apps.billing.prices.own import OwnPrices
from apps.billing.requests.selectors import usable_packages
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, InsufficientFunds, Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission

KEY_MAX = 80


@dataclass(frozen=True, slots=True)
class SeenTerms:
    """The price version and the discount that the buyer saw; None: whatever is in force now."""

    price_id: int | None = None
    off: Decimal | None = None


UNSEEN = SeenTerms()


@dataclass(frozen=True, slots=True)
class AgreedTerms:
    """The terms of one payment: the price and the organisation's discount in force."""

    price: TermPrice
    own: OwnPrices


@dataclass(frozen=True, slots=True)
class OrderSpec:
    """What to buy. `key` makes the order idempotent."""

    package_id: int
    term: Term
    key: str
    quantity: int = 1
    periods: int = 1
    auto_renew: bool = False
    at_end: PrepaidEnd = PrepaidEnd.HOURLY
    seen: SeenTerms = UNSEEN


def order(actor: Actor, *, wanted: OrderSpec) -> PrepaidOrder:
    """Buy periods of a package from now on. The same key again is the same order.

    Raises `NotFound` for a package that the buyer may not use, `Conflict` where it is not offered for the term or its
    price has changed since it was shown, `InsufficientFunds` with what is short.
    """
    actor.require(Permission.BILLING_PREPAY)
    organisation_id, person = actor.organisation(), actor.person()
    check_size(wanted.term, quantity=wanted.quantity, periods=wanted.periods)
    if not 1 <= len(wanted.key) <= KEY_MAX:
        raise Invalid.field("key", _("Give the order a key of 1 to 80 characters."))
    with transaction.atomic():
        wallet = lock_wallet(organisation_id)
        known = PrepaidOrder.objects.filter(organisation_id=organisation_id, key=wanted.key).first()
        if known is not None:
            return _same(known, wanted)
        if not usable_packages(actor).filter(pk=wanted.package_id).exists():
            raise NotFound
        terms = agreed_terms(organisation_id, wanted.package_id, wanted.term, wanted.seen)
        now = db_now()
        end = period_start(now, wanted.term, wanted.periods)
        made: PrepaidOrder = PrepaidOrder.objects.create(
            organisation_id=organisation_id,
            user_id=person,
            package_id=wanted.package_id,
            quantity=wanted.quantity,
            term=wanted.term,
            anchor=now,
            starts_at=now,
            ends_at=end,
            covers_until=grace_end(now, wanted.term, wanted.periods),
            auto_renew=wanted.auto_renew,
            at_end=wanted.at_end,
            key=wanted.key,
            created_at=now,
        )
        bought = purchase(actor, wallet, made, PaidPeriods(0, wanted.periods, now, end), terms)
        log(actor, made, "order", {}, {**audit_values(made), **payment_audit_values(bought)})
        return made


def _same(known: PrepaidOrder, wanted: OrderSpec) -> PrepaidOrder:
    if (known.package_id, known.term, known.quantity) != (wanted.package_id, wanted.term, wanted.quantity):
        raise Conflict(_("This order has already been placed with other content."))
    return known


def renew(actor: Actor, *, order_id: UUID, after: datetime, periods: int = 1, seen: SeenTerms = UNSEEN) -> PrepaidOrder:
    """Buy the periods that follow `after`, the end that the person saw. Repeated, it is the same renewal.

    Until the end of the grace; it begins at the old end, so that no period ever moves. Raises `Conflict` for an order
    that has ended, was renewed meanwhile, is no longer offered or costs something else than was shown.
    """
    actor.require(Permission.BILLING_PREPAY)
    with transaction.atomic():
        wallet, found = locked(order_id)
        if found.ends_at != after:
            return _renewed_already(found, after, periods)
        return renew_locked(actor, wallet, found, periods, seen=seen)


def _renewed_already(found: PrepaidOrder, after: datetime, periods: int) -> PrepaidOrder:
    if not found.purchases.filter(starts_at=after, periods=periods).exists():
        raise Conflict(_("This order has been renewed meanwhile."), hint=_("Look at its new end."))
    return found


def renew_locked(
    actor: Actor,
    wallet: Account,
    found: PrepaidOrder,
    periods: int,
    *,
    seen: SeenTerms = UNSEEN,
    automatic: bool = False,
) -> PrepaidOrder:
    term = Term(found.term)
    check_size(term, quantity=found.quantity, periods=periods)
    if found.status != PrepaidStatus.ACTIVE or found.covers_until <= db_now():
        raise Conflict(_("This order has ended."), hint=_("Place a new one."))
    terms = agreed_terms(found.organisation_id, found.package_id, term, seen)
    first, before = next_period(found), audit_values(found)
    stretch = PaidPeriods(first, periods, found.ends_at, period_start(found.anchor, term, first + periods))
    found.ends_at = stretch.ends_at
    found.covers_until = grace_end(found.anchor, term, first + periods)
    found.told_days = None
    found.save(update_fields=["ends_at", "covers_until", "told_days"])
    bought = purchase(actor, wallet, found, stretch, terms, automatic=automatic)
    log(actor, found, "renew", before, {**audit_values(found), **payment_audit_values(bought)})
    return found


def set_renewal(actor: Actor, *, order_id: UUID, auto_renew: bool, at_end: PrepaidEnd) -> PrepaidOrder:
    """Set whether it renews itself, and what happens to running work when it ends."""
    actor.require(Permission.BILLING_PREPAY)
    with transaction.atomic():
        _wallet, found = locked(order_id)
        if found.status != PrepaidStatus.ACTIVE:
            raise Conflict(_("This order has ended."), hint=_("Place a new one."))
        before = audit_values(found)
        found.auto_renew, found.at_end = auto_renew, at_end
        after = audit_values(found)
        if after != before:
            found.save(update_fields=["auto_renew", "at_end"])
            log(actor, found, "settings", before, after)
        return found


@dataclass(frozen=True, slots=True)
class PaidPeriods:
    """Periods [first, first + periods), and the time that is paid for of them."""

    first: int
    periods: int
    starts_at: datetime
    ends_at: datetime


def purchase(
    actor: Actor,
    wallet: Account,
    found: PrepaidOrder,
    stretch: PaidPeriods,
    terms: AgreedTerms,
    *,
    list_fen: int | None = None,
    automatic: bool = False,
) -> PrepaidPurchase:
    """Pay for periods, less the organisation's discount, and record the purchase. The caller has locked the wallet.

    `list_fen` is their list price; None: the full price of the periods.
    """
    listed = terms.price.price_fen * found.quantity * stretch.periods if list_fen is None else list_fen
    amount = terms.own.paid_ahead(listed)
    number = found.purchases.count() + 1
    transfer = _pay(actor, wallet, found, number, amount)
    made: PrepaidPurchase = PrepaidPurchase.objects.create(
        organisation_id=found.organisation_id,
        order=found,
        number=number,
        first_period=stretch.first,
        periods=stretch.periods,
        starts_at=stretch.starts_at,
        ends_at=stretch.ends_at,
        price=terms.price,
        list_fen=listed,
        discount=terms.own.discount,
        discount_off=terms.own.off,
        amount_fen=amount,
        transfer=transfer,
        next_recognition_at=min(stretch.starts_at + DAY, stretch.ends_at),
        automatic=automatic,
        created_at=db_now(),
    )
    return made


def _pay(actor: Actor, wallet: Account, found: PrepaidOrder, number: int, amount: int) -> Transfer:
    """From the wallet to what is deferred; `InsufficientFunds` says what is short."""
    wallet.refresh_from_db()
    if wallet.available_fen < amount:
        words = {"short": yuan(amount - wallet.available_fen), "needs": yuan(amount)}
        raise InsufficientFunds(
            _("%(short)s short of %(needs)s.") % words, hint=_("Top up the wallet, or choose fewer periods.")
        )
    posting = Posting(
        debit=wallet,
        credit=organisation_account(found.organisation_id, AccountKind.DEFERRED),
        amount_fen=amount,
        kind=TransferKind.PREPAYMENT,
        idem=f"prepay:{found.pk}:{number}",
        ref=reference(found),
    )
    return post(actor, posting=posting)


def agreed_terms(organisation_id: UUID, package_id: int, term: Term, seen: SeenTerms) -> AgreedTerms:
    """The terms in force; `Conflict` if they differ from those that were seen. The locked wallet keeps them stable."""
    price, own = offer_to(organisation_id, package_id, term)
    if seen.price_id not in (None, price.pk) or seen.off not in (None, own.off):
        raise Conflict(_("The price has changed since it was shown."), hint=_("Look at the new price and try again."))
    return AgreedTerms(price, own)


def grace_end(anchor: datetime, term: Term, periods: int) -> datetime:
    """Until when an order of so many periods may still be renewed."""
    last = period_start(anchor, term, periods - 1)
    end = period_start(anchor, term, periods)
    return end + min(policy.PREPAID_GRACE, tenth_of(last, end))


def locked(order_id: UUID) -> tuple[Account, PrepaidOrder]:
    """The wallet and, after it, the order; `NotFound` outside the active scope."""
    owner = PrepaidOrder.objects.filter(pk=order_id).values_list("organisation_id", flat=True).first()
    if owner is None:
        raise NotFound
    wallet = lock_wallet(owner)
    found: PrepaidOrder = PrepaidOrder.objects.select_for_update(no_key=True, of=("self",)).get(pk=order_id)
    return wallet, found


def reference(found: PrepaidOrder) -> str:
    """The reference on every transfer of an order's money."""
    return f"prepaid:{found.pk}"


def audit_values(found: PrepaidOrder) -> dict[str, Any]:
    return {
        "status": found.status,
        "ends_at": found.ends_at.isoformat(),
        "auto_renew": found.auto_renew,
        "at_end": found.at_end,
    }


def payment_audit_values(bought: PrepaidPurchase) -> dict[str, Any]:
    """What was paid; with a discount, from which price."""
    words: dict[str, Any] = {"amount_fen": bought.amount_fen}
    if bought.discount_off:
        words |= {"list_fen": bought.list_fen, "discount_off": str(bought.discount_off)}
    return words


def log(actor: Actor, found: PrepaidOrder, verb: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Only what has changed, and what is new."""
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    record(
        actor,
        action=f"billing.prepaid.{verb}",
        target=Target("prepaid_order", str(found.pk), f"{found.package.name_en} × {found.quantity}"),
        organisation_id=found.organisation_id,
        before={name: before[name] for name in changed if name in before},
        after=changed,
    )
