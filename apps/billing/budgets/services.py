"""Budgets: made, changed and removed by who looks after an organisation's money; watched, each threshold told once."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.budgets import selectors as reads
from apps.billing.budgets.selectors import Progress
from apps.billing.choices import BudgetScope
from apps.billing.models import Budget, BudgetAlert
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.tags import parse
from apps.common.text import clean_name
from apps.notifications.services import notify_organisation, notify_user
from apps.tenants.models import Department, Membership

THRESHOLDS = (50, 80, 100)
MAX_PERCENT = 500
AT_MOST = 200


@dataclass(frozen=True, slots=True)
class BudgetSpec:
    """What a budget is. Only the reference that `scope` needs counts; `thresholds` are percents of `limit_fen`."""

    name: str
    scope: BudgetScope
    limit_fen: int
    department_id: UUID | None = None
    user_id: int | None = None
    resource: str = ""
    tag: str = ""
    thresholds: tuple[int, ...] = THRESHOLDS


def create_budget(actor: Actor, spec: BudgetSpec) -> Budget:
    """Raises `Invalid` with the field at fault."""
    actor.require(Permission.BUDGETS_MANAGE)
    columns = _checked(actor, spec)
    if Budget.objects.filter(organisation_id=actor.organisation()).count() >= AT_MOST:
        raise Invalid.field("name", _("An organisation has at most 200 budgets."))
    try:
        with transaction.atomic():
            budget: Budget = Budget.objects.create(organisation_id=actor.organisation(), **columns)
            _log(actor, budget, "created", {}, _plain(columns))
    except IntegrityError as error:
        raise _name_taken() from error
    return budget


def update_budget(actor: Actor, budget_id: UUID, spec: BudgetSpec) -> Budget:
    """Thresholds that are no longer passed under the new terms are told again when they are."""
    actor.require(Permission.BUDGETS_MANAGE)
    columns = _checked(actor, spec)
    try:
        with transaction.atomic():
            budget = _locked(actor, budget_id)
            before = {name: getattr(budget, name) for name in columns}
            if before != columns:
                for name, value in columns.items():
                    setattr(budget, name, value)
                budget.save(update_fields=list(columns))
                _forget_unpassed(budget)
                _log(actor, budget, "updated", _plain(before), _plain(columns))
    except IntegrityError as error:
        raise _name_taken() from error
    return budget


def delete_budget(actor: Actor, budget_id: UUID) -> None:
    actor.require(Permission.BUDGETS_MANAGE)
    with transaction.atomic():
        budget = _locked(actor, budget_id)
        _log(actor, budget, "deleted", {"limit_fen": budget.limit_fen, "scope": budget.scope}, {})
        budget.delete()


def watch_budgets(actor: Actor, *, now: datetime | None = None) -> int:
    """Notify of every threshold that was passed in this month and not notified yet; return how many notices were sent.

    If several were passed since the last look, only the highest is notified.
    """
    now = now or db_now()
    rows = list(Budget.objects.order_by("organisation_id", "pk"))
    by_organisation: dict[UUID, list[Budget]] = {}
    for budget in rows:
        by_organisation.setdefault(budget.organisation_id, []).append(budget)
    found = [p for organisation, mine in by_organisation.items() for p in reads.progress(organisation, mine, now=now)]
    return sum(_tell(each) for each in found)


def _tell(found: Progress) -> bool:
    new = [each for each in found.budget.thresholds if each <= found.percent and each not in found.passed]
    if not new:
        return False
    budget = found.budget
    with transaction.atomic():
        BudgetAlert.objects.bulk_create([_alert(found, percent) for percent in new], ignore_conflicts=True)
        data = {
            "budget_id": str(budget.pk),
            "name": budget.name,
            "percent": max(new),
            "spent_fen": found.spent_fen,
            "limit_fen": budget.limit_fen,
        }
        dedup = f"budget:{budget.pk}:{found.period}:{max(new)}:{budget.limit_fen}"
        notify_organisation(organisation_id=budget.organisation_id, kind="billing.budget", data=data, dedup=dedup)
        if budget.user_id is not None:
            notify_user(
                organisation_id=budget.organisation_id,
                user_id=budget.user_id,
                kind="billing.budget",
                data=data,
                dedup=dedup,
            )
    return True


def _alert(found: Progress, percent: int) -> BudgetAlert:
    budget = found.budget
    return BudgetAlert(
        budget=budget,
        organisation_id=budget.organisation_id,
        period=found.period,
        percent=percent,
        limit_fen=budget.limit_fen,
        spent_fen=found.spent_fen,
    )


def _forget_unpassed(budget: Budget) -> None:
    now = reads.progress(budget.organisation_id, [budget], now=db_now())[0]
    BudgetAlert.objects.filter(budget=budget, period=now.period, percent__gt=now.percent).delete()


def _checked(actor: Actor, spec: BudgetSpec) -> dict[str, Any]:
    """The columns."""
    name = clean_name(spec.name)
    if not 1 <= len(name) <= 80:
        raise Invalid.field("name", _("Give it a name of up to 80 characters."))
    if not 0 < spec.limit_fen <= policy.TOP_UP_MAX_FEN:
        limit = yuan(policy.TOP_UP_MAX_FEN)
        raise Invalid.field("limit", _("Give an amount above zero, at most %(limit)s.") % {"limit": limit})
    reference: dict[str, Any] = {"department_id": None, "user_id": None, "resource": "", "tag": ""}
    return {
        "name": name,
        "scope": spec.scope,
        "limit_fen": spec.limit_fen,
        "thresholds": _thresholds(spec.thresholds),
        **reference,
        **_reference(actor, spec),
    }


def _thresholds(given: Iterable[int]) -> list[int]:
    found = sorted(set(given))
    if not found or len(found) > 10 or not all(1 <= each <= MAX_PERCENT for each in found):
        raise Invalid.field("thresholds", _("Give one to ten percentages from 1 to 500."))
    return found


def _reference(actor: Actor, spec: BudgetSpec) -> dict[str, Any]:
    """The one column that the scope needs, checked to be the organisation's own."""
    organisation_id = actor.organisation()
    if spec.scope is BudgetScope.DEPARTMENT:
        rows = Department.objects.filter(organisation_id=organisation_id)
        if spec.department_id is None or not rows.filter(pk=spec.department_id).exists():
            raise Invalid.field("department", _("Choose one of the departments."))
        return {"department_id": spec.department_id}
    if spec.scope is BudgetScope.USER:
        people = Membership.objects.filter(organisation_id=organisation_id)
        if spec.user_id is None or not people.filter(user_id=spec.user_id).exists():
            raise Invalid.field("user", _("Choose one of the members."))
        return {"user_id": spec.user_id}
    if spec.scope is BudgetScope.RESOURCE:
        if spec.resource not in reads.resources():
            raise Invalid.field("resource", _("Choose one of the resources."))
        return {"resource": spec.resource}
    return {"tag": _tag(spec.tag)} if spec.scope is BudgetScope.TAG else {}


def _tag(typed: str) -> str:
    """One tag, normalised as the tags of runs are; no run needs to have it yet."""
    try:
        found = parse(typed)
    except Invalid as error:
        raise Invalid.field("tag", error.message) from error
    if len(found) != 1:
        raise Invalid.field("tag", _("Name one tag."))
    return found[0]


def _locked(actor: Actor, budget_id: UUID) -> Budget:
    rows = Budget.objects.select_for_update(of=("self",), no_key=True)
    found: Budget | None = rows.filter(organisation_id=actor.organisation(), pk=budget_id).first()
    if found is None:
        raise NotFound
    return found


def _plain(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, UUID) else value for name, value in columns.items()}


def _log(actor: Actor, budget: Budget, verb: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    record(
        actor,
        action=f"budget.{verb}",
        target=Target("budget", str(budget.pk), budget.name),
        organisation_id=budget.organisation_id,
        before=before,
        after=after,
    )


def _name_taken() -> Invalid:
    return Invalid.field("name", _("There is a budget with this name."))
