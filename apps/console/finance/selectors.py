"""What the pages of money read of all organisations: what is burning, and who runs short."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from apps.billing import selectors as funds
from apps.billing.choices import AccountKind, ArrearsStatus
from apps.billing.models import Account, ArrearsState
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants.models import Organisation

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Short:
    """An organisation whose money runs out: its state, what it may still use, what it burns, until when."""

    organisation: Organisation
    status: ArrearsStatus
    since: datetime
    funds_fen: int
    burn_fen_per_hour: Decimal
    lasts_hours: Decimal | None


def burn(actor: Actor) -> tuple[Decimal, int]:
    """Fen per hour of everything that is metered now, and how many organisations burn it."""
    actor.require(Permission.PLATFORM_OVERVIEW)
    burning = funds.burn_by_organisation()
    return sum(burning.values(), Decimal(0)), len(burning)


def short_of_money(actor: Actor) -> list[Short]:
    """Organisations whose arrears status is not normal, the worst first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    states = list(
        ArrearsState.objects.exclude(status=ArrearsStatus.NORMAL).select_related("organisation").order_by("since")[:100]
    )
    wallets = Account.objects.filter(organisation__in=[state.pk for state in states], kind=AccountKind.CASH)
    usable = {wallet.organisation_id: wallet.funds_fen for wallet in wallets}
    burning = funds.burn_by_organisation()
    found = [_short(state, usable.get(state.pk, 0), burning.get(state.pk, Decimal(0))) for state in states]
    return sorted(found, key=lambda short: list(ArrearsStatus).index(short.status), reverse=True)[:SHOWN]


def _short(state: ArrearsState, funds_fen: int, rate: Decimal) -> Short:
    return Short(
        organisation=state.organisation,
        status=ArrearsStatus(state.status),
        since=state.since,
        funds_fen=funds_fen,
        burn_fen_per_hour=rate,
        lasts_hours=max(Decimal(funds_fen), Decimal(0)) / rate if rate else None,
    )
