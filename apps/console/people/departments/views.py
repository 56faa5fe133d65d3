"""Departments of one organisation: the whole tree, and one of them with its name, place and limits."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import on_platform, requires
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.departments import DepartmentEditForm, MoveForm, NewDepartmentForm, change_department
from apps.console.kit.levels import books_of_departments
from apps.console.kit.requests import StaffRequest
from apps.console.people.departments.listing import TreeTable
from apps.console.people.limits import department_rows, limits_form, set_limits_of
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.views import frame
from apps.tenants import tree
from apps.tenants.models import Department
from apps.tenants.services import departments as services

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
LIST, PAGE = "console/organisations/departments.html", "console/organisations/department.html"
NEW = "console/organisations/department_new.html"


@requires(VIEW)
@require_GET
def department_list(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    table = TreeTable(reads.departments(request.actor, organisation_id))
    paged(request, table)
    ids = [row.record.pk for row in table.page.object_list]
    table.books, table.paths = books_of_departments(ids), tree.paths(ids)
    context = {**frame(request.actor, organisation, "departments"), "table": table}
    return render(request, LIST, context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def department_new(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    form = NewDepartmentForm(request.POST or None, organisation_id=organisation_id)
    if request.method == "POST" and form.is_valid():
        name, parent_id = form.cleaned_data["name"], form.parent_id()
        about = {"organisation_id": organisation_id, "parent_id": parent_id}
        try:
            made = services.create_department(request.actor, name=name, **about)
        except DomainError as error:
            show_error(form, error)
        else:
            words = _("%(name)s was made.") % {"name": made.name}
            return done(request, words, "console:organisation_department", organisation_id, made.pk)
    context = {**frame(request.actor, organisation, "departments"), "form": form}
    return refused(request, NEW, context) if request.method == "POST" else render(request, NEW, context)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def department(request: StaffRequest, organisation_id: UUID, department_id: UUID) -> HttpResponse:
    """Its name and weight, its place in the tree and its limits, each with a button of its own."""
    found = reads.department(request.actor, organisation_id, department_id)
    sent = request.POST if request.method == "POST" else None
    act = sent.get("act", "") if sent is not None else ""
    forms = _forms(found, sent, act)
    if sent is not None:
        request.actor.require(P.PLATFORM_TENANTS_MANAGE)
        if act == "limits":
            level = {"department_id": department_id}
            words = set_limits_of(request.actor, organisation_id, level, forms["limits"])
        else:
            words = _changed(request, found, forms, act)
        if words:
            return done(request, words, "console:organisation_department", organisation_id, department_id)
    organisation = reads.get(request.actor, organisation_id)
    context = {
        **frame(request.actor, organisation, "departments"),
        **forms,
        "department": found,
        "path": tree.paths([found.pk])[found.pk],
        "rows": department_rows(forms["limits"], found),
    }
    return render(request, PAGE, context, status=REFUSED if sent is not None else 200)


def _forms(found: Department, sent: Any, act: str) -> dict[str, Any]:
    """The forms of the page; only the one whose button was pressed is bound."""
    return {
        "form": DepartmentEditForm(
            sent if act == "name" else None, initial={"name": found.name, "weight": found.weight}
        ),
        "move": MoveForm(
            sent if act == "move" else None,
            organisation_id=found.organisation_id,
            besides=tree.subtree(found.pk),
            initial={"parent": str(found.parent_id or "")},
        ),
        "limits": limits_form(found.organisation_id, {"department_id": found.pk}, sent if act == "limits" else None),
    }


def _changed(request: StaffRequest, found: Department, forms: dict[str, Any], act: str) -> str:
    """What was done; empty: refused, and the form says why."""
    form = forms["move"] if act == "move" else forms["form"]
    if not form.is_valid():
        return ""
    if act == "move":
        changes = {"parent_id": form.parent_id()}
    else:
        changes = {"name": form.cleaned_data["name"], "weight": form.cleaned_data["weight"] or found.weight}
    try:
        change_department(request.actor, department_id=found.pk, changes=changes, organisation_id=found.organisation_id)
    except DomainError as error:
        show_error(form, error)
        return ""
    words = _("%(name)s was moved.") if act == "move" else _("%(name)s was changed.")
    return words % {"name": changes.get("name", found.name)}


@requires(MANAGE)
@require_POST
def department_delete(request: StaffRequest, organisation_id: UUID, department_id: UUID) -> HttpResponse:
    found = reads.department(request.actor, organisation_id, department_id)
    try:
        services.delete_department(request.actor, department_id=department_id, organisation_id=organisation_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:organisation_department", organisation_id, department_id)
    words = _("%(name)s was deleted.") % {"name": found.name}
    return done(request, words, "console:organisation_departments", organisation_id)
