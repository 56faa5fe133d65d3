"""How much of each budget is spent in this billing month, and where that leads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet, Sum

from apps.billing.choices import BudgetScope, Resource
from apps.billing.consumption.tag_costs import spent_by_tag
from apps.billing.days import billing_day
from apps.billing.metering.selectors import rates_of, unrated_of
from apps.billing.models import Budget, BudgetAlert, MeterSession, Package, SessionDay
from apps.billing.months import Month
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.common.tags import fold
from apps.tenants import tree
from apps.tenants.models import Membership

CPU = "cpu"
PACE_DAYS = 7

Key = tuple[int, str]
"""A person and a resource."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Exact fen by person and resource, and by tag as tags are compared; a run counts under each of its tags."""

    people: dict[Key, Decimal]
    tags: dict[str, Decimal]


@dataclass(frozen=True, slots=True)
class Spent:
    """Of the month so far, of the last `PACE_DAYS` whole days, and by the hour of what runs now."""

    month: Sums
    lately: Sums
    hourly: Sums


@dataclass(frozen=True, slots=True)
class Progress:
    """One budget in `period` ("2026-11").

    The forecast goes on until its end at the average of the last seven days, or at what runs now where that is more.

    `passed`: thresholds that have been told in this month.
    """

    budget: Budget
    period: str
    spent_fen: int
    forecast_fen: int
    passed: tuple[int, ...]

    @property
    def percent(self) -> int:
        return self.spent_fen * 100 // self.budget.limit_fen

    @property
    def left_fen(self) -> int:
        return self.budget.limit_fen - self.spent_fen


def budgets(actor: Actor) -> QuerySet[Budget]:
    """The organisation's, by name."""
    actor.require(Permission.BILLING_VIEW)
    rows: QuerySet[Budget] = Budget.objects.filter(organisation_id=actor.organisation())
    return rows.select_related("department", "user").order_by("name", "pk")


def get(actor: Actor, budget_id: UUID) -> Budget:
    found = budgets(actor).filter(pk=budget_id).first()
    if found is None:
        raise NotFound
    return found


def progress(organisation_id: UUID, rows: Iterable[Budget], *, now: datetime) -> list[Progress]:
    """Progress of one organisation's budgets, in a constant number of queries. The caller checks permissions."""
    chosen, today = list(rows), billing_day(now)
    if not chosen:
        return []
    period = f"{today:%Y-%m}"
    spent = _spent(organisation_id, today, {fold(budget.tag) for budget in chosen if budget.tag})
    told: dict[UUID, list[int]] = {}
    for budget_id, percent in BudgetAlert.objects.filter(budget__in=chosen, period=period).values_list(
        "budget_id", "percent"
    ):
        told.setdefault(budget_id, []).append(percent)
    return [_progress(budget, period, spent, now, tuple(sorted(told.get(budget.pk, [])))) for budget in chosen]


def _progress(budget: Budget, period: str, spent: Spent, now: datetime, passed: tuple[int, ...]) -> Progress:
    people = _people(budget)
    month, lately, hourly = (_sum(budget, people, part) for part in (spent.month, spent.lately, spent.hourly))
    calendar_month = Month(period)
    days_left = (calendar_month.last - billing_day(now)).days
    hours_left = Decimal((calendar_month.end - now) // timedelta(seconds=1)) / 3600
    ahead = max(lately / PACE_DAYS * days_left, hourly * hours_left)
    return Progress(budget, period, int(month), int(month + ahead), passed)


def _people(budget: Budget) -> frozenset[int] | None:
    """Whose spending counts; None: everybody's. For a department, who is in it or below it now."""
    if budget.scope == BudgetScope.USER:
        return frozenset({budget.user_id} if budget.user_id else ())
    if budget.scope != BudgetScope.DEPARTMENT or budget.department_id is None:
        return None
    rows = Membership.objects.filter(
        organisation_id=budget.organisation_id, department_id__in=tree.subtree(budget.department_id)
    )
    return frozenset(rows.values_list("user_id", flat=True))


def _sum(budget: Budget, people: frozenset[int] | None, spent: Sums) -> Decimal:
    if budget.scope == BudgetScope.TAG:
        return spent.tags.get(fold(budget.tag), Decimal(0))
    wanted = budget.resource if budget.scope == BudgetScope.RESOURCE else None
    return sum(
        (
            fen
            for (user, resource), fen in spent.people.items()
            if (people is None or user in people) and wanted in (None, resource)
        ),
        Decimal(0),
    )


def _spent(organisation_id: UUID, today: date, keys: set[str]) -> Spent:
    """`keys`: the tags that anybody asks for."""
    month, lately = (today.replace(day=1), today), (today - timedelta(days=PACE_DAYS), today - timedelta(days=1))
    people, tags = _charged(organisation_id, *month), spent_by_tag(organisation_id, keys, *month)
    rows = MeterSession.objects.filter(organisation_id=organisation_id, settled=False)
    sessions = list(rows.select_related("price_version__package"))
    _add(sessions, unrated_of(sessions), people, tags, keys)
    hourly = Sums({}, {})
    _add(sessions, rates_of(organisation_id, sessions), hourly.people, hourly.tags, keys)
    before = Sums(_charged(organisation_id, *lately), spent_by_tag(organisation_id, keys, *lately))
    return Spent(Sums(people, tags), before, hourly)


def _add(
    sessions: Iterable[MeterSession],
    fen: Mapping[UUID, Decimal],
    people: dict[Key, Decimal],
    tags: dict[str, Decimal],
    keys: set[str],
) -> None:
    """Add what each session has in `fen` to its person and resource, and to each of its tags that anybody asks for."""
    for session in sessions:
        key, more = (session.user_id, resource_of(session.price_version.package)), fen.get(session.pk, Decimal(0))
        people[key] = people.get(key, Decimal(0)) + more
        for tag in keys & set(session.tag_keys):
            tags[tag] = tags.get(tag, Decimal(0)) + more


def _charged(organisation_id: UUID, since: date, until: date) -> dict[Key, Decimal]:
    """Charges of these days, both included, summed by package first because there are few of them."""
    rows = SessionDay.objects.filter(organisation_id=organisation_id, day__range=(since, until))
    sums = rows.values_list("session__user_id", "price_version__package_id").annotate(fen=Sum("exact_fen"))
    found = list(sums)
    packages = Package.objects.in_bulk({package for _user, package, _fen in found})
    totals: dict[Key, Decimal] = {}
    for user, package, fen in found:
        key = (user, resource_of(packages[package]))
        totals[key] = totals.get(key, Decimal(0)) + fen
    return totals


def resource_of(package: Package) -> str:
    """The accelerator model of a package, "gpu" for any, "cpu" without one, "storage" for what keeps data."""
    if package.resource == Resource.STORAGE:
        return package.resource
    if not package.gpu_count:
        return CPU
    return package.gpu_model or "gpu"


def resources() -> list[str]:
    """Resources that a budget can count: every one that some package has."""
    return sorted({resource_of(package) for package in Package.objects.all()})
