"""Ending prepaid time early: giving it back, or another package in its place. Both pro rata, to the microsecond.

What was used by this moment is earned, rounded up to a fen; the rest goes back to the wallet. So refunds of an order
never exceed what was paid for its remaining time.
"""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.billing.arrears.services import reassess
from apps.billing.choices import AccountKind, PrepaidStatus, Term, TransferKind
from apps.billing.ledger.services import Posting, organisation_account, post
from apps.billing.models import Account, PrepaidOrder, PrepaidPurchase
from apps.billing.periods import period_start, price_of_rest, used_by
from apps.billing.prepaid.selectors import check_size
from apps.billing.prepaid.services import (
    UNSEEN,
    PaidPeriods,
    SeenTerms,
    agreed_terms,
    audit_values,
    locked,
    log,
    purchase,
    reference,
)
from apps.billing.requests.selectors import usable_packages
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission

REASON_MAX = 300


def give_back(actor: Actor, *, order_id: UUID, reason: str = "") -> PrepaidOrder:
    """End the order now and return the unused part to the wallet. Repeating it changes nothing.

    For the buyer's organisation, or the platform's finance staff, who give a reason. Running work goes on by the hour.
    """
    actor.require(Permission.PLATFORM_RECHARGE if actor.platform else Permission.BILLING_PREPAY)
    reason = reason.strip()
    if len(reason) > REASON_MAX or (actor.platform and not reason):
        raise Invalid.field("reason", _("Say why, in up to 300 characters."))
    with transaction.atomic():
        wallet, found = locked(order_id)
        if found.status == PrepaidStatus.REFUNDED:
            return found
        now, before = _active(found), audit_values(found)
        returned = sum(_cut(actor, wallet, each, now) for each in _uncut(found))
        _end(found, PrepaidStatus.REFUNDED, now)
        log(actor, found, "refund", before, {**audit_values(found), "amount_fen": returned, "reason": reason})
        reassess(actor, organisation_id=found.organisation_id, now=now)
        return found


def change(actor: Actor, *, order_id: UUID, package_id: int, quantity: int, seen: SeenTerms = UNSEEN) -> PrepaidOrder:
    """Switch to another package or number of replicas for the remaining time; returns the new order.

    The unused part of the old one goes back and the rest of the periods is paid at the price and the discount in force
    now, in one transaction. The calendar stays the order's own. The same call again is the same change. Raises
    `Conflict` in the grace (renew first), `InsufficientFunds` if the wallet does not cover the difference.
    """
    actor.require(Permission.BILLING_PREPAY)
    with transaction.atomic():
        wallet, found = locked(order_id)
        check_size(Term(found.term), quantity=quantity, periods=1)
        if found.status == PrepaidStatus.CHANGED:
            return _changed_already(found, package_id, quantity)
        now = _active(found)
        if (package_id, quantity) == (found.package_id, found.quantity):
            raise Invalid.field("package", _("This is what the order covers already."))
        if found.ends_at <= now:
            raise Conflict(_("Its paid time has run out."), hint=_("Renew it first, or place a new order."))
        if not usable_packages(actor).filter(pk=package_id).exists():
            raise NotFound
        terms = agreed_terms(found.organisation_id, package_id, Term(found.term), seen)
        before, parts = audit_values(found), _uncut(found)
        returned = sum(_cut(actor, wallet, each, now) for each in parts)
        made = _successor(actor, found, package_id, quantity, now)
        _end(found, PrepaidStatus.CHANGED, now)
        paid = 0
        for part in (each for each in parts if each.ends_at > now):
            stretch = PaidPeriods(part.first_period, part.periods, max(part.starts_at, now), part.ends_at)
            listed = _rest(made, part, terms.price.price_fen * quantity * part.periods, now)
            paid += purchase(actor, wallet, made, stretch, terms, list_fen=listed).amount_fen
        after = {"package": made.package.name_en, "quantity": quantity, "returned_fen": returned, "amount_fen": paid}
        log(actor, found, "change", before, {**audit_values(found), **after})
        return made


def _changed_already(found: PrepaidOrder, package_id: int, quantity: int) -> PrepaidOrder:
    made: PrepaidOrder = PrepaidOrder.objects.get(replaces=found)
    if (made.package_id, made.quantity) != (package_id, quantity):
        raise Conflict(_("This order has been changed meanwhile."), hint=_("Change the one that took its place."))
    return made


def _successor(actor: Actor, found: PrepaidOrder, package_id: int, quantity: int, now: datetime) -> PrepaidOrder:
    made: PrepaidOrder = PrepaidOrder.objects.create(
        organisation_id=found.organisation_id,
        user_id=actor.person(),
        package_id=package_id,
        quantity=quantity,
        term=found.term,
        anchor=found.anchor,
        starts_at=now,
        ends_at=found.ends_at,
        covers_until=found.covers_until,
        auto_renew=found.auto_renew,
        at_end=found.at_end,
        replaces=found,
        key=f"change:{found.pk}",
        created_at=now,
    )
    return made


def _rest(made: PrepaidOrder, part: PrepaidPurchase, full_fen: int, now: datetime) -> int:
    """The list price of the rest of the part's periods; the part itself may have begun in the middle of them."""
    term = Term(made.term)
    start = period_start(made.anchor, term, part.first_period)
    return price_of_rest(full_fen, start, part.ends_at, now)


def _active(found: PrepaidOrder) -> datetime:
    """Now; `Conflict` for an order that has ended."""
    now = db_now()
    if found.status != PrepaidStatus.ACTIVE or found.covers_until <= now:
        raise Conflict(_("This order has ended."))
    return now


def _end(found: PrepaidOrder, status: PrepaidStatus, now: datetime) -> None:
    found.status, found.covers_until = status, now
    found.save(update_fields=["status", "covers_until"])


def _uncut(found: PrepaidOrder) -> list[PrepaidPurchase]:
    rows = found.purchases.filter(cut_at__isnull=True, next_recognition_at__isnull=False)
    return list(rows.select_for_update(no_key=True).order_by("number"))


def _cut(actor: Actor, wallet: Account, part: PrepaidPurchase, now: datetime) -> int:
    """Recognise what was used and return the rest: the fen that went to the wallet."""
    used = used_by(part.amount_fen, part.starts_at, part.ends_at, now)
    rest = part.amount_fen - used
    key = f"{part.order_id}:{part.number}"
    deferred = organisation_account(part.organisation_id, AccountKind.DEFERRED)
    if rest:
        back = Posting(
            debit=deferred,
            credit=wallet,
            amount_fen=rest,
            kind=TransferKind.PREPAYMENT_BACK,
            idem=f"prepay-back:{key}",
            ref=reference(part.order),
        )
        part.returned = post(actor, posting=back)
    if used > part.recognised_fen:
        earned = Posting(
            debit=deferred,
            credit=organisation_account(part.organisation_id, AccountKind.REVENUE),
            amount_fen=used - part.recognised_fen,
            kind=TransferKind.RECOGNITION,
            idem=f"recognition:{key}:cut",
            ref=reference(part.order),
        )
        post(actor, posting=earned)
    part.recognised_fen, part.returned_fen = used, rest
    part.next_recognition_at, part.cut_at = None, now
    part.save(update_fields=["recognised_fen", "returned_fen", "returned", "next_recognition_at", "cut_at"])
    return rest
