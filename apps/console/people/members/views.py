"""The members of one organisation, and adding one."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.kit.levels import books_of_people
from apps.console.kit.requests import StaffRequest
from apps.console.people.members import services
from apps.console.people.members.forms import MemberForm
from apps.console.people.members.listing import MemberTable
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.views import frame
from apps.tenants.choices import Role
from apps.tenants.models import User

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
NEW = "console/organisations/member_new.html"


@requires(VIEW)
@require_GET
def member_list(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    table = MemberTable(reads.members(request.actor, organisation_id))
    paged(request, table)
    table.books = books_of_people(organisation_id, [row.record.user_id for row in table.page.object_list])
    context = {**frame(request.actor, organisation, "members"), "table": table}
    return render(request, "console/organisations/members.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def member_new(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    form = MemberForm(request.POST or None)
    context = {**frame(request.actor, organisation, "members"), "form": form}
    if request.method != "POST":
        return render(request, NEW, context)
    if form.is_valid():
        try:
            user, password = _add(request.actor, organisation_id, form)
        except DomainError as error:
            show_error(form, error)
        else:
            return _added(request, organisation_id, user, password, context)
    return refused(request, NEW, context)


def _add(actor: Actor, organisation_id: UUID, form: MemberForm) -> tuple[User, str | None]:
    role, priority = Role(form.cleaned_data["role"]), form.cleaned_data["priority"]
    if form.is_new:
        return services.add_new_person(
            actor, organisation_id=organisation_id, person=form.person(), role=role, priority=priority
        )
    name = form.cleaned_data["username"]
    user = services.add_existing_person(actor, organisation_id=organisation_id, name=name, role=role, priority=priority)
    return user, None


def _added(
    request: StaffRequest, organisation_id: UUID, user: User, password: str | None, context: dict[str, Any]
) -> HttpResponse:
    """The generated password is in this one answer only: not in the session, not in a cache, nowhere else."""
    if password is None:
        words = _("%(name)s is a member now.") % {"name": user.display_name}
        return done(request, words, "console:organisation_members", organisation_id)
    context |= {"person": user, "password": password}
    response = render(request, "console/organisations/member_added.html", context)
    response.headers["Cache-Control"] = "no-store"
    return response
