"""Roles of the organisation's own making."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.kit.permission_choices import choices
from apps.console.kit.roles import RoleForm, own_role, own_roles
from apps.console.organisation.roles.listing import RoleTable
from apps.tenants.choices import Role
from apps.tenants.permission_words import words_for
from apps.tenants.roles import ORGANISATION_ROLES
from apps.tenants.services import roles as services

MANAGE = in_organisation(P.ORGANISATION_MANAGE)
LIST, FORM = "organisation/roles.html", "organisation/role_form.html"


@requires(MANAGE)
@require_GET
def role_list(request: ActorRequest) -> HttpResponse:
    table = paged(request, RoleTable(own_roles(request.actor.organisation())))
    base = [
        {"role": role.label, "permissions": [words_for(p) for p in P.every() if p in allowed]}
        for role, allowed in ORGANISATION_ROLES.items()
    ]
    return render(request, LIST, {"table": table, "base": base, "roles": Role})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    form = RoleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_role(request.actor, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            words = _("%(name)s can be given now, on each member's page.") % {"name": made.name}
            return done(request, words, "organisation:roles")
    return _answer(request, form, {"groups": choices(request.actor, form["permissions"].value() or [])})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def detail(request: ActorRequest, role_id: UUID) -> HttpResponse:
    role = own_role(request.actor.organisation(), role_id)
    form = RoleForm(request.POST or None, initial={"name": role.name, "permissions": role.permissions})
    if request.method == "POST" and form.is_valid():
        try:
            services.change_role(request.actor, role_id=role_id, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            words = _("%(name)s was changed. It counts at each member's next click.") % {"name": role.name}
            return done(request, words, "organisation:roles")
    chosen = form["permissions"].value() or []
    return _answer(request, form, {"role": role, "groups": choices(request.actor, chosen, had=role.permissions)})


def _answer(request: ActorRequest, form: RoleForm, context: dict[str, Any]) -> HttpResponse:
    context = {**context, "form": form}
    return refused(request, FORM, context) if request.method == "POST" else render(request, FORM, context)


@requires(MANAGE)
@require_POST
def delete(request: ActorRequest, role_id: UUID) -> HttpResponse:
    role = own_role(request.actor.organisation(), role_id)
    try:
        services.delete_role(request.actor, role_id=role_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("organisation:role", role_id)
    return done(request, _("%(name)s was deleted.") % {"name": role.name}, "organisation:roles")
