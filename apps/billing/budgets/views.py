"""Budgets of an organisation: how far each is spent, new ones, changes."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.budgets import selectors as reads
from apps.billing.budgets import services
from apps.billing.budgets.forms import BudgetForm, initial_of, resource_label
from apps.billing.budgets.selectors import Progress
from apps.billing.choices import BudgetScope
from apps.billing.models import Budget
from apps.common.access import in_organisation, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.tables import pager

VIEW, MANAGE = in_organisation(Permission.BILLING_VIEW), in_organisation(Permission.BUDGETS_MANAGE)
LIST, FORM = "billing/budgets/list.html", "billing/budgets/form.html"
PER_PAGE = 25


@requires(VIEW)
@require_GET
def budget_list(request: ActorRequest) -> HttpResponse:
    """`?q=` narrows by name, `?scope=` by what is counted."""
    text, scope = request.GET.get("q", "").strip()[:80], request.GET.get("scope", "")
    rows = reads.budgets(request.actor)
    found = rows.filter(name__icontains=text) if text else rows
    if scope in BudgetScope.values:
        found = found.filter(scope=scope)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    shown = reads.progress(request.actor.organisation(), page.object_list, now=db_now())
    context = {
        "rows": [_row(each) for each in shown],
        "table": pager(page),
        "any": bool(shown) or rows.exists(),
        "text": text,
        "scope": scope,
        "scopes": BudgetScope.choices,
        "may_manage": request.actor.may(Permission.BUDGETS_MANAGE),
    }
    return render(request, LIST, context)


def _row(found: Progress) -> dict[str, Any]:
    over, near = found.percent >= 100, found.forecast_fen > found.budget.limit_fen
    return {
        "found": found,
        "budget": found.budget,
        "what": what_it_counts(found.budget),
        "tone": "fail" if over else "warn" if near else "",
        "near": near and not over,
    }


def what_it_counts(budget: Budget) -> str:
    """`Department: Vision`, `Whole organisation`."""
    names = {
        BudgetScope.DEPARTMENT: budget.department.name if budget.department else "",
        BudgetScope.USER: budget.user.display_name if budget.user else "",
        BudgetScope.RESOURCE: resource_label(budget.resource),
        BudgetScope.TAG: budget.tag,
    }
    label, name = budget.get_scope_display(), names.get(BudgetScope(budget.scope), "")
    return _("%(what)s: %(name)s") % {"what": label, "name": name} if name else str(label)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    return _edit(request, None)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, budget_id: UUID) -> HttpResponse:
    return _edit(request, reads.get(request.actor, budget_id))


def _edit(request: ActorRequest, budget: Budget | None) -> HttpResponse:
    form = BudgetForm(
        request.POST or None, actor=request.actor, resources=reads.resources(), initial=initial_of(budget)
    )
    if request.method == "POST" and form.is_valid():
        try:
            if budget is None:
                made = services.create_budget(request.actor, form.spec())
                said = _("The budget %(name)s is watched from now on.") % {"name": made.name}
            else:
                services.update_budget(request.actor, budget.pk, form.spec())
                said = _("The budget was changed.")
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, said)
            return redirect("billing:budgets")
    status = REFUSED if request.method == "POST" else 200
    return render(request, FORM, {"form": form, "budget": budget}, status=status)


@requires(MANAGE)
@require_POST
def delete(request: ActorRequest, budget_id: UUID) -> HttpResponse:
    services.delete_budget(request.actor, budget_id)
    messages.success(request, _("The budget was removed."))
    return redirect("billing:budgets")
