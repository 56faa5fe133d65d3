"""How far vouchers cover what runs or is about to start."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet, Sum

from apps.billing.choices import Resource, VoucherScope
from apps.billing.models import Hold, MeterSession, Package, Voucher
from apps.billing.purses.funding import Purse
from apps.common.clock import db_now, once_a_moment


def purses_of(rows: QuerySet[Voucher]) -> list[Purse]:
    """In the order of their use: soonest expiry first."""
    return [_purse(row) for row in rows.order_by("valid_until", "pk")]


def spendable(organisation_id: UUID) -> QuerySet[Voucher]:
    """Vouchers with something left that were not voided, expired or not."""
    rows: QuerySet[Voucher] = Voucher.objects.filter(
        organisation_id=organisation_id, voided_at__isnull=True, left_fen__gt=0
    )
    return rows


def _purse(row: Voucher) -> Purse:
    return Purse(
        voucher_id=row.pk,
        scope=VoucherScope(row.scope),
        package_id=row.package_id,
        gpu_model=row.gpu_model,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        amount_fen=row.amount_fen,
        used_fen=row.used_fen,
        left_fen=row.left_fen,
        covered=row.covered_exact,
    )


@dataclass(frozen=True, slots=True)
class Backing:
    """Vouchers that pay now, and how many of their fen open holds already count on."""

    purses: Sequence[Purse]
    promised_fen: int

    def without(self, fen: int) -> "Backing":
        """The same without a promise of `fen`."""
        return Backing(self.purses, self.promised_fen - fen)

    def free_fen(self, package: Package) -> int:
        """How much of a package's next hour vouchers can cover. Deducts every promise, of whatever scope."""
        left = sum(purse.left_fen for purse in self.purses if _fits(purse, package))
        return max(left - self.promised_fen, 0)


def _fits(purse: Purse, package: Package) -> bool:
    return purse.is_for(package.pk, package.gpu_model, Resource(package.resource))


def backing(organisation_id: UUID, *, ahead: timedelta = timedelta(hours=1)) -> Backing:
    """Backing for what starts now: vouchers that are valid for at least `ahead`."""
    now = db_now()
    purses = [purse for purse in _paying(organisation_id, now) if purse.valid_until >= now + ahead]
    if not purses:
        return Backing((), 0)
    holds = Hold.objects.filter(organisation_id=organisation_id, end__isnull=True, covered_fen__gt=0)
    return Backing(purses, holds.aggregate(fen=Sum("covered_fen"))["fen"] or 0)


@once_a_moment
def _paying(organisation_id: UUID, at: datetime) -> list[Purse]:
    return purses_of(spendable(organisation_id).filter(valid_from__lte=at, valid_until__gte=at))


def funds_with_vouchers(organisation_id: UUID, wallet_fen: int, also: Package | None = None) -> int:
    """What running work may still consume: `wallet_fen` (balance and credit) and the vouchers that fit what runs.

    `also`: something on this package beside it, which costs.

    Vouchers do not pay debt, nor do they help an empty wallet while something runs that none of them fits. Where
    nothing runs, every voucher that pays now counts.
    """
    purses = backing(organisation_id, ahead=timedelta()).purses if wallet_fen >= 0 else ()
    if not purses:
        return wallet_fen
    running = MeterSession.objects.filter(organisation_id=organisation_id, closed_at__isnull=True, settled=False)
    costly = running.filter(price_version__rate_fen_per_hour__gt=0).values("price_version__package")
    packages = [*Package.objects.filter(pk__in=costly), *([also] if also else ())]
    fitting = {package.pk: [purse for purse in purses if _fits(purse, package)] for package in packages}
    if wallet_fen == 0 and not all(fitting.values()):
        return 0
    counted = {purse.voucher_id for each in fitting.values() for purse in each}
    return wallet_fen + sum(purse.left_fen for purse in purses if not packages or purse.voucher_id in counted)
