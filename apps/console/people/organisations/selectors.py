"""Organisations as the platform's staff see them: people, quotas, what runs, what it costs."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.billing import selectors as funds
from apps.billing.choices import AccountKind
from apps.billing.models import Account, Transfer
from apps.billing.prices.own import with_paid_rate
from apps.billing.selectors import ChargeFilter, Wallet
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.console.kit.levels import with_counts
from apps.console.kit.quotas import gpu_models
from apps.tenants.models import Department, Membership, Organisation
from apps.tenants.selectors import LevelLine, level_lines
from apps.workloads.choices import LIVE
from apps.workloads.models import Workload

RECENT_DAYS = 30
SUGGESTED = 20


def organisations(actor: Actor) -> QuerySet[Organisation]:
    """By name, each with `members`, `live` (workloads not ended) and, for who may see money, `balance_fen`."""
    actor.require(Permission.PLATFORM_TENANTS_VIEW)
    rows: QuerySet[Organisation] = Organisation.objects.annotate(
        members=_count(Membership.objects.filter(organisation=OuterRef("pk"))),
        live=_count(Workload.objects.filter(organisation=OuterRef("pk"), status__in=LIVE)),
    )
    if actor.may(Permission.PLATFORM_FINANCE_VIEW):
        rows = rows.annotate(balance_fen=_balance())
    return rows.order_by("name")


def _count(rows: "QuerySet[Membership] | QuerySet[Workload]") -> Coalesce:
    counted = rows.order_by().values("organisation").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=BigIntegerField()), 0, output_field=BigIntegerField())


def _balance() -> Coalesce:
    wallet = Account.objects.filter(organisation=OuterRef("pk"), kind=AccountKind.CASH).values("balance_fen")
    return Coalesce(Subquery(wallet, output_field=BigIntegerField()), 0, output_field=BigIntegerField())


def get(actor: Actor, organisation_id: UUID) -> Organisation:
    found = organisations(actor).filter(pk=organisation_id).first()
    if found is None:
        raise NotFound
    return found


def suggestions(text: str) -> QuerySet[Organisation]:
    """The first names that contain `text`, for a field that completes."""
    rows: QuerySet[Organisation] = Organisation.objects.order_by("name")
    return (rows.filter(Q(name__icontains=text) | Q(slug__icontains=text)) if text else rows)[:SUGGESTED]


def members(actor: Actor, organisation_id: UUID) -> QuerySet[Membership]:
    actor.require(Permission.PLATFORM_TENANTS_VIEW)
    rows: QuerySet[Membership] = Membership.objects.filter(organisation_id=organisation_id)
    return rows.select_related("user", "department", "own_role").order_by("user__username")


def departments(actor: Actor, organisation_id: UUID) -> QuerySet[Department]:
    """The whole tree, by name, each with `people` right in it and `parts` right below it."""
    actor.require(Permission.PLATFORM_TENANTS_VIEW)
    return with_counts(Department.objects.filter(organisation_id=organisation_id)).order_by("name", "pk")


def department(actor: Actor, organisation_id: UUID, department_id: UUID) -> Department:
    found = departments(actor, organisation_id).filter(pk=department_id).first()
    if found is None:
        raise NotFound
    return found


def member(actor: Actor, organisation_id: UUID, user_id: int) -> Membership:
    found = members(actor, organisation_id).filter(user_id=user_id).first()
    if found is None:
        raise NotFound
    return found


def limits(actor: Actor, organisation_id: UUID) -> list[LevelLine]:
    """Every resource and accelerator model, whether a row exists for it yet or not."""
    actor.require(Permission.PLATFORM_TENANTS_VIEW)
    return level_lines(organisation_id, models=gpu_models())


@dataclass(frozen=True, slots=True)
class Money:
    """What finance staff see of one organisation."""

    wallet: Wallet
    recharges: list[Transfer]
    days: list[dict[str, Any]]
    consumed_fen: int
    exact_fen: Decimal


def money(actor: Actor, organisation_id: UUID) -> Money | None:
    """The wallet, the last recharges and the consumption of the last 30 days; None for who may not see money."""
    if not actor.may(Permission.PLATFORM_FINANCE_VIEW):
        return None
    since = timezone.localdate() - timedelta(days=RECENT_DAYS - 1)
    days = list(funds.consumption_by_day(actor, filters=ChargeFilter(since=since, organisation_id=organisation_id)))
    return Money(
        wallet=funds.wallet(actor, organisation_id=organisation_id),
        recharges=list(funds.recharges(actor).filter(organisation_id=organisation_id)[:5]),
        days=days,
        consumed_fen=sum(day["amount_fen"] for day in days),
        exact_fen=sum((day["exact_fen"] for day in days), Decimal(0)),
    )


def live_workloads(organisation_id: UUID) -> QuerySet[Workload]:
    """What has not ended, newest first, `paid_rate` in fen per hour."""
    rows: QuerySet[Workload] = Workload.objects.filter(organisation_id=organisation_id, status__in=LIVE)
    rows = rows.select_related("owner", "package", "price_version", "organisation")
    return with_paid_rate(rows).order_by("-created_at")
