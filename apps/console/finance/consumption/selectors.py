"""What the money went to across organisations, down to the slice; every total is a sum of charges."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncHour

from apps.billing import selectors as funds
from apps.billing.arithmetic import seconds
from apps.billing.consumption.selectors import Summed, by_organisation, day_sums, session_days
from apps.billing.metering.selectors import unrated_of
from apps.billing.models import Charge, MeterSession, PriceVersion, RatingRun, UsageSlice
from apps.billing.selectors import ChargeFilter
from apps.billing.statements.agreement import Agreement, agreement_of, agreement_of_months
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.console.kit.days import start_of
from apps.tenants.models import Organisation


@dataclass(frozen=True, slots=True)
class Scope:
    """Which charges a page covers: days of the billing zone (both included) and search terms."""

    since: date
    until: date
    search: str = ""

    @property
    def after(self) -> date:
        """The first day after it."""
        return self.until + timedelta(days=1)

    def charges(
        self, actor: Actor, organisation_id: UUID | None = None, workload_id: UUID | None = None
    ) -> QuerySet[Charge]:
        filters = ChargeFilter(
            since=self.since, until=self.until, organisation_id=organisation_id, workload_id=workload_id
        )
        return self.matching(funds.charges(actor, filters=filters))

    def sums(self, actor: Actor) -> Summed:
        """Kept sums of the charges: those of sessions if there are search terms."""
        filters = ChargeFilter(since=self.since, until=self.until)
        if self.search:
            return self.matching(session_days(actor, filters=filters))
        return day_sums(actor, filters=filters)

    def matching(self, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
        """Rows whose organisation, workload or owner contains the search terms, which are searched once per session."""
        return rows.filter(session__in=self.sessions().values("pk")) if self.search else rows

    def sessions(self) -> QuerySet[MeterSession]:
        rows: QuerySet[MeterSession] = MeterSession.objects.all()
        if not self.search:
            return rows
        named = Q(organisation__name__icontains=self.search) | Q(label__icontains=self.search)
        return rows.filter(named | Q(user__username__icontains=self.search))


@dataclass(frozen=True, slots=True)
class Totals:
    """Whole fen that moved, their exact sum before rounding, and counts.

    `voucher_exact` of the exact sum was paid by vouchers, the rest by wallets.
    """

    amount_fen: int
    exact_fen: Decimal
    organisations: int
    workloads: int
    voucher_exact: Decimal = Decimal(0)

    @property
    def voucher_fen(self) -> int:
        """In whole fen, as shown."""
        return round(self.voucher_exact)

    @property
    def rounding_fen(self) -> Decimal:
        """What rounding added or removed in these days; it is carried, never lost."""
        return self.amount_fen - self.exact_fen


def totals(actor: Actor, scope: Scope) -> Totals:
    found = scope.sums(actor).aggregate(
        amount=Sum("amount_fen"),
        exact=Sum("exact_fen"),
        vouchers=Sum("voucher_exact"),
        organisations=Count("organisation_id", distinct=True),
    )
    amount, exact, by_vouchers = found["amount"] or 0, found["exact"] or Decimal(0), found["vouchers"] or Decimal(0)
    return Totals(amount, exact, found["organisations"], _workloads(scope), voucher_exact=by_vouchers)


def _workloads(scope: Scope) -> int:
    """How many workloads have charged time in these days: slices tile, so a session's two ends say it."""
    since, after = start_of(scope.since), start_of(scope.after)
    charged = scope.sessions().filter(rated_until__gt=F("opened_at"))
    rows = charged.filter(opened_at__lt=after, rated_until__gt=since)
    return int(rows.aggregate(count=Count("workload_id", distinct=True))["count"])


def organisations(actor: Actor, scope: Scope) -> QuerySet[Any, Any]:
    """Rows {organisation_id, name, amount_fen, exact_fen, seconds}, the greatest first."""
    return by_organisation(scope.sums(actor))


def workloads(actor: Actor, scope: Scope, organisation_id: UUID) -> QuerySet[Any, Any]:
    """Rows {workload_id, label, username, amount_fen, exact_fen, seconds, first, last}, newest first."""
    filters = ChargeFilter(since=scope.since, until=scope.until, organisation_id=organisation_id)
    return scope.matching(funds.consumption_by_workload(actor, filters=filters))


def hours(actor: Actor, scope: Scope, workload_id: UUID) -> QuerySet[Charge, Any]:
    """Rows {hour, slices, seconds, exact_fen, amount_fen} of one workload, oldest first."""
    rows = scope.charges(actor, workload_id=workload_id).order_by().values(hour=TruncHour("start"))
    grouped = rows.annotate(
        slices=Count("pk"), seconds=Sum("seconds"), exact_fen=Sum("exact_fen"), amount_fen=Sum("amount_fen")
    )
    return grouped.order_by("hour")


def slices(actor: Actor, scope: Scope, workload_id: UUID, hour: datetime) -> QuerySet[Charge]:
    """Charges of one workload that begin within an hour, oldest first."""
    rows = scope.charges(actor, workload_id=workload_id)
    return rows.filter(start__gte=hour, start__lt=hour + timedelta(hours=1)).order_by("start", "revision", "pk")


def by_package(actor: Actor, scope: Scope) -> list[dict[str, Any]]:
    """Rows {package_id, name_en, name_zh, amount_fen, exact_fen}, the greatest first."""
    package = "price_version__package"
    rows = scope.sums(actor).values(
        package_id=F(f"{package}_id"), name_en=F(f"{package}__name_en"), name_zh=F(f"{package}__name_zh")
    )
    summed = rows.annotate(amount_fen=Sum("amount_fen"), exact_fen=Sum("exact_fen"))
    return [dict(row) for row in summed.order_by("-exact_fen", f"{package}_id")]


def days(actor: Actor, scope: Scope) -> dict[date, Decimal]:
    """Exact fen of each day with charges."""
    return dict(scope.sums(actor).values_list("day").annotate(fen=Sum("exact_fen")).order_by("day"))


@dataclass(frozen=True, slots=True)
class Pending:
    """The part of a session that is metered and not charged yet."""

    session: MeterSession
    seconds: Decimal
    exact_fen: Decimal

    @property
    def running(self) -> bool:
        return self.session.closed_at is None


def pending(actor: Actor, workload_id: UUID | None = None) -> list[Pending]:
    """Sessions with proven time after their last rating, of one workload or of all."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows = MeterSession.objects.filter(settled=False, proven_until__gt=F("rated_until"))
    if workload_id is not None:
        rows = rows.filter(workload_id=workload_id)
    sessions = list(rows.select_related("price_version").order_by("opened_at"))
    exact = unrated_of(sessions)
    return [Pending(each, seconds(each.proven_until - each.rated_until), exact[each.pk]) for each in sessions]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One charge with everything that it was computed from."""

    charge: Charge
    slice: UsageSlice | None
    former: PriceVersion | None
    run: RatingRun
    organisation: Organisation


def explain(actor: Actor, charge_id: int) -> Explanation:
    """Raises `NotFound` if there is no such charge."""
    rows = funds.charges(actor).filter(pk=charge_id)
    charge = rows.select_related("run__transfer", "organisation", "session", "price_version__package").first()
    if charge is None:
        raise NotFound
    former = PriceVersion.objects.filter(package=charge.price_version.package, number=charge.price_version.number - 1)
    return Explanation(
        charge=charge,
        slice=UsageSlice.objects.filter(session=charge.session_id, start=charge.slice_start).first(),
        former=former.first(),
        run=charge.run,
        organisation=charge.organisation,
    )


@dataclass(frozen=True, slots=True)
class Received:
    """Recharges of the scope's days, ignoring search terms."""

    amount_fen: int
    count: int


def received(actor: Actor, scope: Scope) -> Received:
    rows = funds.recharges(actor).order_by().filter(at__gte=start_of(scope.since), at__lt=start_of(scope.after))
    found = rows.aggregate(fen=Sum("into_wallet_fen"), count=Count("pk"))
    return Received(int(found["fen"] or 0), found["count"])


def agreement(actor: Actor, scope: Scope) -> Agreement:
    """Charges against ledger entries: of the billing months that the days lie in, or of the runs that match words."""
    if scope.search:
        return agreement_of(actor, scope.charges(actor))
    return agreement_of_months(actor, since=scope.since, until=scope.until)
