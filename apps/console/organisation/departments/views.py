"""Departments, one level at a time: what is below, who is in it, what it holds; making, renaming, moving, deleting."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.kit.departments import DepartmentEditForm, DepartmentForm, MoveForm
from apps.console.kit.levels import books_of_departments, with_counts
from apps.console.organisation.departments.listing import DepartmentFilter, DepartmentTable
from apps.tenants import tree
from apps.tenants.models import Department, Membership
from apps.tenants.selectors import level_lines
from apps.tenants.services import departments as services
from apps.tenants.services.guarantees import set_department_weight

MANAGE = in_organisation(P.MEMBERS_MANAGE)
PAGE, FORM = "organisation/departments.html", "organisation/department_form.html"


@requires(MANAGE)
@require_GET
def top(request: ActorRequest) -> HttpResponse:
    return _level(request, None)


@requires(MANAGE)
@require_GET
def detail(request: ActorRequest, department_id: UUID) -> HttpResponse:
    return _level(request, _get(request.actor, department_id))


def _level(request: ActorRequest, department: Department | None) -> HttpResponse:
    """Without a search the departments right below; with one, all below whose name contains it."""
    organisation_id = request.actor.organisation()
    rows = with_counts(Department.objects.filter(organisation_id=organisation_id))
    filtered = DepartmentFilter(request.GET, queryset=rows, request=request)
    found = filtered.qs
    if not request.GET.get("q"):
        found = found.filter(parent=department)
    elif department is not None:
        found = found.filter(pk__in=tree.subtree(department.pk)).exclude(pk=department.pk)
    table = DepartmentTable(found)
    paged(request, table)
    table.books = books_of_departments([row.record.pk for row in table.page.object_list])
    context = {
        "department": department,
        "above": _ancestors(department),
        "table": table,
        "filter": filtered,
        "form": DepartmentForm(),
        "people": Membership.objects.filter(organisation_id=organisation_id, department=department).count(),
        "lines": [line for line in _lines(organisation_id, department) if line.used or line.limit is not None],
        "sees_quotas": request.actor.may(P.QUOTAS_VIEW),
    }
    return render(request, PAGE, context)


def _lines(organisation_id: UUID, department: Department | None) -> list[Any]:
    return level_lines(organisation_id, department_id=department.pk if department else None)


def _ancestors(department: Department | None) -> list[Department]:
    """The ancestors of the department, top first."""
    if department is None:
        return []
    ids = tree.ancestors(department.parent_id)
    found = Department.objects.in_bulk(ids)
    return [found[pk] for pk in reversed(ids)]


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """`?below=<id>` names the place; without it, the department stands at the top."""
    parent = _parent(request)
    form = DepartmentForm(request.POST or None)
    context = {"form": form, "parent": parent}
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_department(
                request.actor, name=form.cleaned_data["name"], parent_id=parent.pk if parent else None
            )
        except DomainError as error:
            show_error(form, error)
        else:
            words = _("%(name)s was made.") % {"name": made.name}
            return done(request, words, *_page_of(parent.pk if parent else None))
    return refused(request, FORM, context) if request.method == "POST" else render(request, FORM, context)


def _parent(request: ActorRequest) -> Department | None:
    below = request.GET.get("below", "")
    try:
        return _get(request.actor, UUID(below)) if below else None
    except ValueError as error:
        raise NotFound from error


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, department_id: UUID) -> HttpResponse:
    """Rename and move, each by its own button."""
    department = _get(request.actor, department_id)
    moving = request.POST.get("act") == "move"
    besides = tree.subtree(department.pk)
    organisation_id = request.actor.organisation()
    initial = {"name": department.name, "weight": department.weight}
    name = DepartmentEditForm(None if moving else request.POST or None, initial=initial)
    move = MoveForm(
        request.POST if moving else None,
        organisation_id=organisation_id,
        besides=besides,
        initial={"parent": str(department.parent_id or "")},
    )
    if request.method == "POST" and _changed(request, department, move if moving else name):
        words = _("%(name)s was moved.") if moving else _("%(name)s was changed.")
        shown_name = department.name if moving else name.cleaned_data["name"]
        return done(request, words % {"name": shown_name}, "organisation:department", department.pk)
    context = {"department": department, "form": name, "move": move, "above": _ancestors(department)}
    status = REFUSED if request.method == "POST" else 200
    return render(request, "organisation/department_edit.html", context, status=status)


def _changed(request: ActorRequest, department: Department, form: DepartmentForm | MoveForm) -> bool:
    if not form.is_valid():
        return False
    try:
        if isinstance(form, MoveForm):
            services.move_department(request.actor, department_id=department.pk, parent_id=form.parent_id())
        else:
            services.rename_department(request.actor, department_id=department.pk, name=form.cleaned_data["name"])
            weight = form.cleaned_data.get("weight") or department.weight
            set_department_weight(request.actor, department_id=department.pk, weight=weight)
    except DomainError as error:
        show_error(form, error)
        return False
    return True


@requires(MANAGE)
@require_POST
def delete(request: ActorRequest, department_id: UUID) -> HttpResponse:
    department = _get(request.actor, department_id)
    try:
        services.delete_department(request.actor, department_id=department_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("organisation:department", department_id)
    return done(request, _("%(name)s was deleted.") % {"name": department.name}, *_page_of(department.parent_id))


def _page_of(department_id: UUID | None) -> tuple[Any, ...]:
    return ("organisation:department", department_id) if department_id else ("organisation:departments",)


def _get(actor: Actor, department_id: UUID) -> Department:
    rows = Department.objects.filter(organisation_id=actor.organisation(), pk=department_id)
    found: Department | None = rows.select_related("parent").first()
    if found is None:
        raise NotFound
    return found
