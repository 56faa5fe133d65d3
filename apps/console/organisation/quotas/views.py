"""Quotas of the organisation, its departments and its people: limits, what is used and reserved, and by whom."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done, paged
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.kit.quota_neighbours import Neighbours, neighbour_words, neighbours
from apps.console.kit.quotas import LimitsForm, gpu_models, set_limits, shown_amount, shown_used, unit
from apps.console.organisation.quotas import selectors as reads
from apps.console.organisation.quotas.listing import HoldingTable
from apps.tenants import tree
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Membership, Quota
from apps.tenants.quotas import Line, line_words
from apps.tenants.selectors import level_lines
from apps.workloads.time_limits import limit_lines

VIEW = in_organisation(P.QUOTAS_VIEW)
PAGE, HOLDERS = "organisation/quotas.html", "organisation/quota_holders.html"

# Which books the page is about: keyword arguments of `level_lines` and `set_limits`.
Level = dict[str, Any]


@requires(VIEW)
@require_GET
def whole(request: ActorRequest) -> HttpResponse:
    """The organisation's own limits are the platform's to set."""
    near = {
        line: Neighbours(below=each.below)
        for line, each in neighbours(request.actor.organisation(), above_from=None, below_of=None).items()
    }
    return _page(request, {}, {"heading": _("Quotas"), "settable": False, "near": near})


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def of_department(request: ActorRequest, department_id: UUID) -> HttpResponse:
    department = Department.objects.filter(organisation_id=request.actor.organisation(), pk=department_id).first()
    if department is None:
        raise NotFound
    about = {"heading": tree.paths([department_id])[department_id], "department": department, "settable": True}
    about["near"] = neighbours(request.actor.organisation(), above_from=department.parent_id, below_of=department_id)
    return _page(request, {"department_id": department_id}, about)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def of_person(request: ActorRequest, user_id: int) -> HttpResponse:
    rows = Membership.objects.filter(organisation_id=request.actor.organisation(), user_id=user_id)
    member = rows.select_related("user").first()
    if member is None:
        raise NotFound
    about = {"heading": member.user.display_name, "person": member.user, "settable": True}
    about["near"] = neighbours(
        request.actor.organisation(), above_from=member.department_id, below_of=None, people=True
    )
    return _page(request, {"user_id": user_id}, about)


def _page(request: ActorRequest, level: Level, about: dict[str, Any]) -> HttpResponse:
    actor = request.actor
    lines = level_lines(actor.organisation(), models=gpu_models(), **level)
    form = LimitsForm(request.POST or None, lines=lines)
    if request.method == "POST":
        actor.require(P.QUOTAS_MANAGE)
        if form.is_valid() and (changed := _set(actor, level, form)) is not None:
            words = ngettext("%(count)s limit was set.", "%(count)s limits were set.", changed)
            return done(request, words % {"count": changed}, *_address(level))
    rows = _rows(actor, level, form, about["near"])
    context = {
        **about,
        "form": form,
        "rows": rows,
        "may_manage": about["settable"] and actor.may(P.QUOTAS_MANAGE),
        "may_see_people": actor.may(P.MEMBERS_MANAGE),
        "largest": _largest(actor, rows) if not level else [],
        "run_times": [] if level else [line for line in limit_lines(actor.organisation()) if line.limit.longest_s],
    }
    return render(request, PAGE, context, status=REFUSED if request.method == "POST" else 200)


def _set(actor: Actor, level: Level, form: LimitsForm) -> int | None:
    try:
        return set_limits(actor, organisation_id=actor.organisation(), limits=form.limits(), **level)
    except DomainError as error:
        show_error(form, error)
        return None


def _rows(actor: Actor, level: Level, form: LimitsForm, near: Mapping[Line, Neighbours]) -> list[dict[str, Any]]:
    """Each line with what of it is reserved by waiting work, how many objects hold it, and what stands around it."""
    held = reads.holdings(actor.organisation(), **level)
    waiting, counts = reads.reserved(held), reads.holders(held)
    return [
        {
            "line": row.line,
            "label": line_words(row.line.resource, row.line.model),
            "unit": row.unit,
            "field": row.field,
            "limit": shown_amount(row.line.resource, row.line.limit),
            "used": shown_used(row.line.resource, row.line.used - waiting.get(line, 0)),
            "reserved": shown_used(row.line.resource, waiting.get(line, 0)),
            "full": row.line.limit is not None and row.line.used >= row.line.limit,
            "over": row.line.limit is not None and row.line.used > row.line.limit,
            "holders": counts.get(line, 0),
            "holders_url": _holders_url(level, row.line.resource, row.line.model),
            **neighbour_words(near, line, row.line.limit),
        }
        for row in form.rows()
        for line in [(row.line.resource, row.line.model)]
    ]


def _largest(actor: Actor, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each resource that anybody uses: the departments and people who hold most of it."""
    busiest = [row for row in rows if row["line"].used and not row["line"].model]
    return [
        {
            **row,
            "departments": _shares(actor, row, people=False),
            "people": _shares(actor, row, people=True),
        }
        for row in busiest
    ]


def _shares(actor: Actor, row: dict[str, Any], *, people: bool) -> list[dict[str, Any]]:
    line = row["line"]
    found = reads.largest(actor.organisation(), line.resource, line.model, people=people, most=5)
    return [
        {
            "name": quota.user.display_name if quota.user else quota.department.name if quota.department else "",
            "url": reverse(*_name_and_args(quota)),
            "used": quota.used,
            "whole": line.used,
            "words": f"{shown_used(line.resource, quota.used)} {row['unit']}",
        }
        for quota in found
    ]


def _name_and_args(quota: Quota) -> tuple[str, None, list[Any]]:
    if quota.user_id:
        return "organisation:quota_person", None, [quota.user_id]
    return "organisation:quota_department", None, [quota.department_id]


def _address(level: Level) -> tuple[Any, ...]:
    if "department_id" in level:
        return "organisation:quota_department", level["department_id"]
    return "organisation:quota_person", level["user_id"]


def _holders_url(level: Level, resource: Resource, model: str) -> str:
    names = {"department_id": "department", "user_id": "person"}
    query = {"resource": resource.value, "model": model, **{names[key]: str(value) for key, value in level.items()}}
    return reverse("organisation:quota_holders", query={key: value for key, value in query.items() if value})


@requires(VIEW)
@require_GET
def holders(request: ActorRequest) -> HttpResponse:
    """Object by object what holds a resource, largest first; `?resource=&model=&department=&person=`."""
    resource, model, level = _asked(request)
    rows = reads.holdings(request.actor.organisation(), **level).filter(resource=resource, model=model)
    table = HoldingTable(rows.select_related("user").order_by("-amount", "pk"), resource=resource)
    paged(request, table)
    table.names = reads.holder_names(row.record for row in table.page.object_list)
    context = {
        "table": table,
        "what": line_words(resource, model),
        "unit": unit(resource)[1],
        "back": reverse(*_back(level)) if level else reverse("organisation:quotas"),
    }
    return render(request, HOLDERS, context)


def _asked(request: ActorRequest) -> tuple[Resource, str, Level]:
    asked = request.GET
    try:
        level: Level = {}
        if asked.get("department"):
            level["department_id"] = UUID(asked["department"])
        if asked.get("person"):
            level["user_id"] = int(asked["person"])
        return Resource(asked.get("resource", "")), asked.get("model", ""), level
    except ValueError as error:
        raise NotFound from error


def _back(level: Level) -> tuple[str, None, list[Any]]:
    name, key = _address(level) if len(level) == 1 else ("organisation:quota_person", level["user_id"])
    return name, None, [key]
