"""The price that a lower one is compared with, so that many small steps count as the large one that they add up to."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Max, Q, QuerySet

from apps.billing.change_choices import ChangeKind
from apps.billing.choices import RequestState, Term
from apps.billing.models import ChangeRequest, Package, PriceVersion, TermPrice
from apps.billing.payments.settings import PaymentSettings
from apps.billing.prices.pricelist import Unit
from apps.billing.prices.units.selectors import list_price, prices_at, versions_of
from apps.common.clock import db_now
from apps.tenants import settings

# Prices in force within so many days are compared with, unless two people have set one since.
WINDOW = timedelta(days=30)
HUNDRED = Decimal(100)
# For comparing a price by the period with the one by the hour.
HOURS = {Term.DAY: 24, Term.MONTH: 30 * 24, Term.YEAR: 365 * 24}
# A package that takes no more of any of these ought not to cost more.
RESOURCES = ("cpu_milli", "memory_mib", "gpu_count", "gpu_memory_mib", "gpu_core_milli")


def too_low(new: Decimal, reference: Decimal | None) -> bool:
    """Whether a price is lower than the reference by more per cent than one person may lower it."""
    if reference is None or new >= reference:
        return False
    return (reference - new) * HUNDRED > reference * settings.get(PaymentSettings).price_drop_percent


def package_reference(package: Package) -> Decimal | None:
    """Fen per hour of one replica; before its first price, what the list and comparable packages ask for it."""
    versions = PriceVersion.objects.filter(package=package)
    found = _highest(versions, ChangeKind.PACKAGE_PRICE, str(package.pk))
    return comparable_rate(package) if found is None else found


def storage_reference(package: Package | None) -> Decimal | None:
    if package is None:
        return None
    return _highest(PriceVersion.objects.filter(package=package), ChangeKind.STORAGE_PRICE, "storage")


def unit_reference(unit: Unit) -> Decimal | None:
    """Fen per hour of one unit; for a model without a price of its own, that of any model."""
    found = _highest(versions_of(unit), ChangeKind.UNIT_PRICE, unit_subject(unit))
    if found is None and unit.gpu_model:
        rate = prices_at(db_now()).get(unit._replace(gpu_model=""))
        return rate[0] if rate else None
    return found


def term_reference(package: Package, term: Term) -> Decimal | None:
    """Fen of one period; before its first price, as many hours as it has."""
    rows = TermPrice.objects.filter(package=package, term=term)
    found = _highest(rows, ChangeKind.TERM_PRICE, f"{package.pk}:{term}", field="price_fen")
    if found is not None:
        return found
    now = db_now()
    rate = _in_force(package.prices.all(), now).aggregate(rate=Max("rate_fen_per_hour"))["rate"]
    return None if rate is None else rate * HOURS[term]


def unit_subject(unit: Unit) -> str:
    return "/".join(unit)


def _highest(
    rows: QuerySet[Any], kind: ChangeKind, subject: str, *, field: str = "rate_fen_per_hour"
) -> Decimal | None:
    """The highest price in force since the window began, or since two people last agreed on one."""
    now = db_now()
    decided = ChangeRequest.objects.filter(
        kind=kind, subject=subject, state=RequestState.APPROVED, decided_at__gt=now - WINDOW
    ).aggregate(at=Max("decided_at"))["at"]
    since = decided or now - WINDOW
    still = Q(effective_to__isnull=True) | Q(effective_to__gt=since)
    found = rows.filter(still, effective_from__lte=now).aggregate(most=Max(field))["most"]
    return None if found is None else Decimal(found)


def comparable_rate(package: Package) -> Decimal | None:
    """Fen per hour: the highest of the list's price and of those of packages on offer that take no more than this."""
    listed = list_price(package)
    rates = [listed.rate] if listed.complete else []
    smaller = {f"{name}__lte": getattr(package, name) for name in RESOURCES}
    same = {name: getattr(package, name) for name in ("gpu_model", "gpu_mode", "mig_profile", "rdma", "resource")}
    others = Package.objects.filter(active=True, **smaller, **same).exclude(pk=package.pk)
    versions = _in_force(PriceVersion.objects.filter(package__in=others), db_now())
    return max([*rates, *versions.values_list("rate_fen_per_hour", flat=True)], default=None)


def _in_force(rows: QuerySet[Any], at: datetime) -> QuerySet[Any]:
    return rows.filter(Q(effective_to__isnull=True) | Q(effective_to__gt=at), effective_from__lte=at)
