"""Hold money for work that is about to start, and release it."""

from decimal import ROUND_CEILING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.billing import policy
from apps.billing.choices import BLOCKING, HoldOutcome, HoldReason
from apps.billing.ledger.services import lock_wallet
from apps.billing.metering.covering import free_places
from apps.billing.metering.selectors import unrated_fen
from apps.billing.models import Account, ArrearsState, Hold, HoldEnd, PrepaidSeat, PriceVersion
from apps.billing.prices.own import own_prices
from apps.billing.purses.selectors import backing
from apps.common.actor import Actor
from apps.common.clock import db_now, one_moment
from apps.common.errors import Conflict, InsufficientFunds, NotFound
from apps.common.money import yuan


def hold_for_start(actor: Actor, *, workload_id: UUID, price_version_id: int, label: str, replicas: int = 1) -> Hold:
    """Hold the price of the first hour, so that work which starts together can also run together.

    The whole hour must be there: less would promise a run that ends before it has done anything. Vouchers that fit
    stand for as much of it as they have left and no other hold counts on; the wallet for the rest. Repeated for the
    same workload it returns the open hold. What a prepaid order has room for needs no money at all, in arrears neither:
    its hold is empty and keeps the place. Raises InsufficientFunds with what exactly is short, Conflict when the
    price is no longer the one in force (a quote stays good for `policy.QUOTE_VALID`) or its package was withdrawn.
    Needs a transaction: the wallet stays locked until it ends.
    """
    organisation_id = actor.organisation()
    wallet, last = lock_wallet(organisation_id), _last_hold(workload_id)
    if last is not None and not hasattr(last, "end"):
        return last
    with one_moment():  # the lock is ours: price, prepaid places, discount and vouchers as of now
        price = _usable_price(price_version_id)
        if free_places(organisation_id, price.package_id) >= replicas:
            return _take_places(organisation_id, workload_id, price, label, replicas, last)
        amount = own_prices(organisation_id, db_now()).hour(price.rate_fen_per_hour, replicas)
        covered = min(amount, backing(organisation_id).free_fen(price.package)) if amount else 0
    if amount:
        _refuse_in_arrears(organisation_id)
        _refuse_when_short(wallet, amount - covered)
    return place_hold(
        organisation_id,
        workload_id=workload_id,
        label=label,
        reason=HoldReason.START,
        amount_fen=amount - covered,
        covered_fen=covered,
        after=last,
    )


def _take_places(
    organisation_id: UUID, workload_id: UUID, price: PriceVersion, label: str, replicas: int, last: Hold | None
) -> Hold:
    PrepaidSeat.objects.create(
        workload_id=workload_id, organisation_id=organisation_id, package_id=price.package_id, replicas=replicas
    )
    return place_hold(
        organisation_id, workload_id=workload_id, label=label, reason=HoldReason.PREPAID, amount_fen=0, after=last
    )


def release_hold(*, workload_id: UUID) -> None:
    """Release the money of a workload that has ended for good. Does nothing when repeated or without a hold.

    What it has used and not yet paid stays set aside until the rating that charges it; otherwise somebody else
    could start on money that is already spent.
    """
    hold = open_hold(workload_id)
    if hold is None:
        return
    with transaction.atomic():
        wallet = lock_wallet(hold.organisation_id)
        hold = open_hold(workload_id)
        if hold is None or hold.reason == HoldReason.SETTLING:
            return
        due = int(unrated_fen(workload_id).to_integral_value(rounding=ROUND_CEILING))
        end_hold(hold, HoldOutcome.CAPTURED if due else HoldOutcome.VOIDED)
        if due:
            free, covered = wallet.available_fen + hold.amount_fen, min(due, hold.covered_fen)
            held = min(due - covered, max(free, 0))
            replace_hold(hold, reason=HoldReason.SETTLING, amount_fen=held, covered_fen=covered)


def open_hold(workload_id: UUID) -> Hold | None:
    """The workload's open hold; there is at most one, and it is the last."""
    last = _last_hold(workload_id)
    return None if last is None or hasattr(last, "end") else last


def _last_hold(workload_id: UUID) -> Hold | None:
    last: Hold | None = Hold.objects.filter(workload_id=workload_id).select_related("end").order_by("-number").first()
    return last


def place_hold(
    organisation_id: UUID,
    *,
    workload_id: UUID,
    label: str,
    reason: HoldReason,
    amount_fen: int,
    covered_fen: int = 0,
    after: Hold | None,
) -> Hold:
    """Write the workload's next hold; `after`: the last one, which has ended.

    The caller has locked the wallet and read `after` since; the trigger refuses what the wallet lacks.
    """
    placed: Hold = Hold.objects.create(
        organisation_id=organisation_id,
        workload_id=workload_id,
        number=after.number + 1 if after else 1,
        label=label[:200],
        reason=reason,
        amount_fen=amount_fen,
        covered_fen=covered_fen,
    )
    return placed


def replace_hold(hold: Hold, *, reason: HoldReason, amount_fen: int, covered_fen: int = 0) -> Hold:
    """The hold that follows `hold`, which has ended."""
    return place_hold(
        hold.organisation_id,
        workload_id=hold.workload_id,
        label=hold.label,
        reason=reason,
        amount_fen=amount_fen,
        covered_fen=covered_fen,
        after=hold,
    )


def end_hold(hold: Hold, outcome: HoldOutcome) -> None:
    HoldEnd.objects.create(hold=hold, organisation_id=hold.organisation_id, outcome=outcome)


def _usable_price(price_version_id: int) -> PriceVersion:
    price = PriceVersion.objects.select_related("package").filter(pk=price_version_id).first()
    if price is None:
        raise NotFound
    if not price.package.active:
        raise Conflict(_("This package is no longer offered."), hint=_("Choose another package."))
    now = db_now()
    replaced = price.effective_to is not None and price.effective_to + policy.QUOTE_VALID <= now
    if replaced or price.effective_from > now:
        raise Conflict(
            _("The price has changed since it was quoted."), hint=_("Look at the new price and start again.")
        )
    return price


def _refuse_in_arrears(organisation_id: UUID) -> None:
    if ArrearsState.objects.filter(organisation_id=organisation_id, status__in=BLOCKING).exists():
        raise InsufficientFunds(_("The balance is used up: nothing can start until it is topped up."), hint=_who())


def _refuse_when_short(wallet: Account, amount: int) -> None:
    available = wallet.available_fen
    if available < amount:
        message = _("%(short)s short: starting needs %(needs)s, available %(available)s.") % {
            "short": yuan(amount - available),
            "needs": yuan(amount),
            "available": yuan(available),
        }
        raise InsufficientFunds(message, hint=_who())


def _who() -> str:
    return _("The platform's finance staff can top up; an administrator of your organisation can ask them.")
