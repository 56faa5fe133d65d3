"""Quota: checked and reserved in the transaction that submits, so that parallel submissions never overshoot."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Denied, Invalid, NotFound, QuotaExceeded
from apps.common.permissions import Permission
from apps.tenants.choices import Resource
from apps.tenants.models import Quota

Amounts = Mapping[Resource, int]


def reserve(*, organisation_id: UUID, department_id: UUID | None, user_id: int, amounts: Amounts) -> None:
    """Take `amounts` from every level, or raise `QuotaExceeded` and take nothing.

    Rows are locked in id order, so two submissions cannot deadlock; must run inside a transaction.
    """
    levels = _levels(organisation_id, department_id, user_id)
    Quota.objects.bulk_create(
        [Quota(**level, resource=resource) for level in levels for resource in amounts], ignore_conflicts=True
    )
    rows = _locked(levels, amounts)
    refusal = _first_refusal(rows, amounts)
    if refusal is not None:
        raise refusal
    for row in rows:
        Quota.objects.filter(pk=row.pk).update(used=F("used") + amounts[Resource(row.resource)])


def release(*, organisation_id: UUID, department_id: UUID | None, user_id: int, amounts: Amounts) -> None:
    """Give back exactly what `reserve` took with the same arguments."""
    for row in _locked(_levels(organisation_id, department_id, user_id), amounts):
        Quota.objects.filter(pk=row.pk).update(used=F("used") - amounts[Resource(row.resource)])


def shortfall(
    *, organisation_id: UUID, department_id: UUID | None, user_id: int, amounts: Amounts
) -> QuotaExceeded | None:
    """What `reserve` would refuse now, without taking anything: for the quote beside the button."""
    rows = list(_rows(_levels(organisation_id, department_id, user_id), amounts))
    return _first_refusal(rows, amounts)


def set_limit(
    actor: Actor,
    *,
    organisation_id: UUID,
    resource: Resource,
    limit: int | None,
    department_id: UUID | None = None,
    user_id: int | None = None,
) -> None:
    """Limit one level (None lifts the limit). What runs already is never ended by a lower limit."""
    _may_limit(actor, organisation_id, whole=department_id is None and user_id is None)
    if limit is not None and limit < 0:
        raise Invalid.field("limit", _("A limit cannot be negative."))
    level = {"organisation_id": organisation_id, "department_id": department_id, "user_id": user_id}
    with transaction.atomic():
        Quota.objects.bulk_create([Quota(**level, resource=resource)], ignore_conflicts=True)
        row = Quota.objects.select_for_update().get(**level, resource=resource)
        before, row.limit = row.limit, limit
        row.save(update_fields=["limit"])
        record(
            actor,
            action="quota.limited",
            organisation_id=organisation_id,
            target=Target("quota", str(row.pk), str(resource.label)),
            before={"limit": before},
            after={"limit": limit},
        )


def _may_limit(actor: Actor, organisation_id: UUID, *, whole: bool) -> None:
    """The platform limits organisations; an organisation's admin divides that among departments and people."""
    if actor.platform:
        actor.require(Permission.PLATFORM_TENANTS_MANAGE)
        return
    actor.require(Permission.ORGANISATION_MANAGE)
    if organisation_id != actor.organisation_id:
        raise NotFound
    if whole:
        raise Denied(Permission.PLATFORM_TENANTS_MANAGE)


def _levels(organisation_id: UUID, department_id: UUID | None, user_id: int) -> list[dict[str, Any]]:
    """The whole organisation, the department where there is one, the person."""
    base = {"organisation_id": organisation_id, "department_id": None, "user_id": None}
    levels: list[dict[str, Any]] = [base, {**base, "user_id": user_id}]
    if department_id is not None:
        levels.append({**base, "department_id": department_id})
    return levels


def _rows(levels: list[dict[str, Any]], amounts: Amounts) -> QuerySet[Quota]:
    condition = Q()
    for level in levels:
        condition |= Q(
            organisation_id=level["organisation_id"],
            department_id=level["department_id"],
            user_id=level["user_id"],
        )
    rows: QuerySet[Quota] = Quota.objects.filter(condition, resource__in=list(amounts)).order_by("pk")
    return rows


def _locked(levels: list[dict[str, Any]], amounts: Amounts) -> list[Quota]:
    return list(_rows(levels, amounts).select_for_update())


def _first_refusal(rows: list[Quota], amounts: Amounts) -> QuotaExceeded | None:
    for row in rows:
        wanted = amounts[Resource(row.resource)]
        if row.limit is not None and wanted and row.used + wanted > row.limit:
            return QuotaExceeded(_shortfall(row, row.limit, row.used + wanted - row.limit), hint=_who_can_change(row))
    return None


def _shortfall(row: Quota, limit: int, short: int) -> Promise | str:
    return format_lazy(
        _("{whose} quota for {what} is short by {short}: limit {limit}, in use {used}."),
        whose=_whose(row),
        what=Resource(row.resource).label,
        short=amount_text(Resource(row.resource), short),
        limit=amount_text(Resource(row.resource), limit),
        used=amount_text(Resource(row.resource), row.used),
    )


def _whose(row: Quota) -> Promise | str:
    if row.user_id:
        return _("Your")
    return _("Your department's") if row.department_id else _("Your organisation's")


def _who_can_change(row: Quota) -> Promise | str:
    if row.user_id or row.department_id:
        return _("An administrator of your organisation can raise it; ending other runs frees it.")
    return _("The platform's administrators can raise it; ending other runs frees it.")


def amount_text(resource: Resource, amount: int) -> str:
    """`4 CPU`, `16 GiB`, `0.5`, `3`: the amount with the unit that people use."""
    if resource in (Resource.MEMORY_MIB, Resource.STORAGE_MIB):
        return f"{amount / 1024:g} GiB"
    if resource in (Resource.CPU_MILLI, Resource.GPU_MILLI):
        return f"{amount / 1000:g}"
    return str(amount)
