"""Roles of the platform's staff: the base ones beside those that were defined here, permission by permission."""

from typing import Any
from uuid import UUID

from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import on_platform, requires
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.permission_choices import choices
from apps.console.kit.requests import StaffRequest
from apps.console.people.roles.forms import PlatformRoleForm
from apps.console.people.roles.listing import PlatformRoleTable
from apps.tenants.choices import PlatformRole
from apps.tenants.models import DefinedPlatformRole
from apps.tenants.permission_words import words_for
from apps.tenants.roles import PLATFORM_PERMISSIONS, PLATFORM_ROLES, platform_names
from apps.tenants.services.staff import define_platform_role, delete_platform_role

VIEW = on_platform(P.PLATFORM_SECURITY_VIEW)
MANAGE = on_platform(P.PLATFORM_ROLES_MANAGE)
FORM = "console/people/role_form.html"
MATRIX_MAX = 8


@requires(VIEW)
@require_GET
def role_list(request: StaffRequest) -> HttpResponse:
    rows = DefinedPlatformRole.objects.annotate(used_by=Count("assignments"))
    context = {
        "table": paged(request, PlatformRoleTable(rows)),
        **_matrix(list(rows.order_by("name")[:MATRIX_MAX])),
        "may_manage": request.actor.may(P.PLATFORM_ROLES_MANAGE),
    }
    return render(request, "console/people/roles.html", context)


def _matrix(defined: list[DefinedPlatformRole]) -> dict[str, Any]:
    """Roles as columns, permissions as rows."""
    columns: list[tuple[Any, frozenset[P]]] = [(role.label, PLATFORM_ROLES[role]) for role in PlatformRole]
    columns += [(role.name, platform_names(role.permissions)) for role in defined]
    return {
        "columns": [label for label, _allowed in columns],
        "matrix": [
            {"words": words_for(permission), "cells": [permission in allowed for _label, allowed in columns]}
            for permission in P
            if permission in PLATFORM_PERMISSIONS
        ],
    }


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    return _form(request, None)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def detail(request: StaffRequest, platform_role_id: UUID) -> HttpResponse:
    return _form(request, _get(platform_role_id))


def _form(request: StaffRequest, role: DefinedPlatformRole | None) -> HttpResponse:
    initial = {"name": role.name, "permissions": role.permissions} if role else {}
    form = PlatformRoleForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            kept = define_platform_role(request.actor, **form.cleaned_data, role_id=role.pk if role else None)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("%(name)s was saved.") % {"name": kept.name}, "console:roles")
    groups = choices(request.actor, form["permissions"].value() or [], among=PLATFORM_PERMISSIONS)
    context = {"role": role, "form": form, "groups": groups}
    return refused(request, FORM, context) if request.method == "POST" else render(request, FORM, context)


@requires(MANAGE)
@require_POST
def delete(request: StaffRequest, platform_role_id: UUID) -> HttpResponse:
    role = _get(platform_role_id)
    try:
        delete_platform_role(request.actor, role_id=platform_role_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:role", platform_role_id)
    return done(request, _("%(name)s was deleted.") % {"name": role.name}, "console:roles")


def _get(role_id: UUID) -> DefinedPlatformRole:
    found = DefinedPlatformRole.objects.filter(pk=role_id).annotate(used_by=Count("assignments")).first()
    if found is None:
        raise NotFound
    return found
