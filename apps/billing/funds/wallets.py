"""Wallets: what there is now, and how long it lasts."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet

from apps.billing.arrears.selectors import standing_of
from apps.billing.choices import BLOCKING, AccountKind, ArrearsStatus
from apps.billing.funds.quotes import arrears_row, lasts_until, wallet_and_vouchers
from apps.billing.metering.selectors import burn_fen_per_hour
from apps.billing.models import Account
from apps.billing.purses.selectors import funds_with_vouchers
from apps.common.actor import Actor
from apps.common.clock import once_a_moment
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class Wallet:
    """An organisation's money now. `runs_until`: when it is used up at the present burn; None: nothing burns.

    `vouchers_fen`: what is left of its vouchers, whatever they are for; no part of the balance.
    """

    organisation_id: UUID
    balance_fen: int
    held_fen: int
    credit_limit_fen: int
    available_fen: int
    burn_fen_per_hour: Decimal
    runs_until: datetime | None
    status: ArrearsStatus
    since: datetime | None
    grace_until: datetime | None
    release_at: datetime | None = None
    vouchers_fen: int = 0

    @property
    def used_up(self) -> bool:
        """Whether something burns that nothing is left for."""
        return self.burn_fen_per_hour > 0 and self.available_fen <= 0 and self.vouchers_fen <= 0


@once_a_moment
def wallet(actor: Actor, *, organisation_id: UUID | None = None) -> Wallet:
    """The actor's own organisation's; finance staff of the platform name one."""
    organisation_id = _whose(actor, organisation_id)
    account, vouchers_fen = wallet_and_vouchers(organisation_id)
    state = arrears_row(organisation_id)
    # Every page's head asks this: terms and vouchers are read only where they count.
    stands = standing_of(state) if state and state.status in BLOCKING else None
    burn = burn_fen_per_hour(organisation_id)
    funds = funds_with_vouchers(organisation_id, account.funds_fen) if burn else account.funds_fen
    return Wallet(
        organisation_id=organisation_id,
        balance_fen=account.balance_fen,
        held_fen=account.held_fen,
        credit_limit_fen=account.credit_limit_fen,
        available_fen=account.available_fen,
        burn_fen_per_hour=burn,
        runs_until=lasts_until(funds, burn),
        status=ArrearsStatus(state.status) if state else ArrearsStatus.NORMAL,
        since=state.since if state else None,
        grace_until=stands.grace_until if stands else None,
        release_at=stands.release_at if stands else None,
        vouchers_fen=vouchers_fen,
    )


def wallets(actor: Actor) -> QuerySet[Account]:
    """Every organisation's wallet, for the console."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[Account] = Account.objects.filter(kind=AccountKind.CASH).select_related("organisation")
    return rows.order_by("organisation__name")


def _whose(actor: Actor, organisation_id: UUID | None) -> UUID:
    if actor.platform:
        actor.require(Permission.PLATFORM_FINANCE_VIEW)
        return organisation_id or actor.organisation()
    actor.require(Permission.BILLING_VIEW_OWN)
    return actor.organisation()
