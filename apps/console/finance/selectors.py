"""Data of all organisations for the pages of Finance: the present burn, who is short of money, what is simulated."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Sum

from apps.billing import selectors as funds
from apps.billing.choices import AccountKind, ArrearsStatus
from apps.billing.models import Account, ArrearsState, DaySum
from apps.billing.months import Month
from apps.clusters.models import ZonePackage
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants.models import Organisation

SHOWN = 8


@dataclass(frozen=True, slots=True)
class ShortOrganisation:
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


def short_of_money(actor: Actor) -> list[ShortOrganisation]:
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


def simulated_packages() -> frozenset[int]:
    """Packages of simulated zones: what they earn is on hardware that does not exist."""
    return frozenset(ZonePackage.objects.filter(zone__simulated=True).values_list("package_id", flat=True))


def simulated_fen(actor: Actor, month: Month) -> int:
    """The part of the month's consumption that was charged on simulated hardware, fen."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    packages = simulated_packages()
    if not packages:
        return 0
    rows = DaySum.objects.filter(billed=month.period, price_version__package_id__in=packages)
    return int(rows.aggregate(fen=Sum("amount_fen"))["fen"] or 0)


def _short(state: ArrearsState, funds_fen: int, rate: Decimal) -> ShortOrganisation:
    return ShortOrganisation(
        organisation=state.organisation,
        status=ArrearsStatus(state.status),
        since=state.since,
        funds_fen=funds_fen,
        burn_fen_per_hour=rate,
        lasts_hours=max(Decimal(funds_fen), Decimal(0)) / rate if rate else None,
    )
