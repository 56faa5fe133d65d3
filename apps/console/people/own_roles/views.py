"""Roles of an organisation's own making: the list, making one, changing and deleting it."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import on_platform, requires
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.permission_choices import choices
from apps.console.kit.requests import StaffRequest
from apps.console.kit.roles import RoleForm, own_role, own_roles
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.views import frame
from apps.console.people.own_roles.listing import OwnRoleTable
from apps.tenants.models import OrganisationRole
from apps.tenants.roles import organisation_permissions
from apps.tenants.services import roles as services

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
LIST, FORM = "console/organisations/roles.html", "console/organisations/role.html"


@requires(VIEW)
@require_GET
def role_list(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    table = paged(request, OwnRoleTable(own_roles(organisation_id)))
    return render(request, LIST, {**frame(request.actor, organisation, "roles"), "table": table})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def role_new(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    return _form(request, organisation_id, None)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def role_detail(request: StaffRequest, organisation_id: UUID, role_id: UUID) -> HttpResponse:
    return _form(request, organisation_id, own_role(organisation_id, role_id))


def _form(request: StaffRequest, organisation_id: UUID, role: OrganisationRole | None) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    form = RoleForm(request.POST or None, initial={"name": role.name, "permissions": role.permissions} if role else {})
    if request.method == "POST":
        request.actor.require(P.PLATFORM_TENANTS_MANAGE)
        kept = _kept(request, organisation_id, role, form)
        if kept is not None:
            words = _("%(name)s was saved.") % {"name": kept.name}
            return done(request, words, "console:organisation_roles", organisation_id)
    chosen = form["permissions"].value() or []
    # Staff may give any right that there is in an organisation, so nothing is locked for who may change the role.
    had = organisation_permissions() if request.actor.may(P.PLATFORM_TENANTS_MANAGE) else ()
    context = {
        **frame(request.actor, organisation, "roles"),
        "role": role,
        "form": form,
        "groups": choices(request.actor, chosen, had=[each.value for each in had]),
    }
    return render(request, FORM, context, status=REFUSED if request.method == "POST" else 200)


def _kept(
    request: StaffRequest, organisation_id: UUID, role: OrganisationRole | None, form: RoleForm
) -> OrganisationRole | None:
    """The role as it was saved; None: refused, and the form says why."""
    if not form.is_valid():
        return None
    given: dict[str, Any] = {**form.cleaned_data, "organisation_id": organisation_id}
    try:
        if role is None:
            return services.create_role(request.actor, **given)
        return services.change_role(request.actor, role_id=role.pk, **given)
    except DomainError as error:
        show_error(form, error)
        return None


@requires(MANAGE)
@require_POST
def role_delete(request: StaffRequest, organisation_id: UUID, role_id: UUID) -> HttpResponse:
    role = own_role(organisation_id, role_id)
    try:
        services.delete_role(request.actor, role_id=role_id, organisation_id=organisation_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:organisation_role", organisation_id, role_id)
    words = _("%(name)s was deleted.") % {"name": role.name}
    return done(request, words, "console:organisation_roles", organisation_id)
