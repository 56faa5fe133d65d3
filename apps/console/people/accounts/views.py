"""Accounts across all organisations, and the platform's staff."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common import bulk
from apps.common.access import Access, on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.people.accounts import selectors as reads
from apps.console.people.accounts import services
from apps.console.people.accounts.bulk_acts import PEOPLE
from apps.console.people.accounts.forms import DetailsForm, GiveRoleForm, StaffForm, chosen_role
from apps.console.people.accounts.listing import PeopleFilter, PeopleTable, PersonFilter, PersonTable
from apps.tenants import emails, second_factor, sessions
from apps.tenants.models import PlatformAssignment, User
from apps.tenants.services import accounts, deletion
from apps.tenants.services.staff import assign_platform_role, withdraw_platform_role

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
STAFF = on_platform(P.PLATFORM_SECURITY_VIEW)
ROLES = on_platform(P.PLATFORM_ROLES_MANAGE)
# What each act needs depends on whose account it is: the services decide.
ANY_STAFF: Access = on_platform(P.PLATFORM_OVERVIEW)
DETAIL = "console/people/detail.html"


@requires(VIEW)
@require_GET
def people(request: StaffRequest) -> HttpResponse:
    filtered = PeopleFilter(request.GET, queryset=reads.people(request.actor), request=request)
    context = {
        "table": paged(request, PeopleTable(filtered.qs, bulk=bulk.offered(request, PEOPLE))),
        "filter": filtered,
    }
    return render(request, "console/people/list.html", context)


@requires(on_platform(P.PLATFORM_TENANTS_MANAGE))
@require_POST
def bulk_act(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, PEOPLE)


@requires(STAFF)
@require_GET
def staff(request: StaffRequest) -> HttpResponse:
    filtered = PersonFilter(request.GET, queryset=reads.people(request.actor, staff=True), request=request)
    table = paged(request, PersonTable(filtered.qs, exclude=("homes",)))
    context = {"table": table, "filter": filtered, "may_manage": request.actor.may(P.PLATFORM_ROLES_MANAGE)}
    return render(request, "console/people/staff.html", context)


@requires(ROLES)
@require_http_methods(["GET", "POST"])
def staff_new(request: StaffRequest) -> HttpResponse:
    form = StaffForm(request.POST or None)
    template = "console/people/staff_new.html"
    if request.method != "POST":
        return render(request, template, {"form": form})
    if form.is_valid():
        role = chosen_role(form.cleaned_data["role"])
        try:
            if form.cleaned_data["who"] == "new":
                user, password = services.add_new(request.actor, person=form.person(), role=role)
                return _show_password(request, user, password or "")
            user = services.add_existing(request.actor, name=form.cleaned_data["username"], role=role)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("%(name)s has the role now.") % _name(user), "console:people_detail", user.pk)
    return refused(request, template, {"form": form})


@requires(ANY_STAFF)
@require_GET
def detail(request: StaffRequest, user_id: int) -> HttpResponse:
    return render(request, DETAIL, _context(request.actor, reads.person(request.actor, user_id)))


def _context(actor: Actor, person: User) -> dict[str, Any]:
    staffed = bool(person.platform_assignments.all())
    manages = actor.may(P.PLATFORM_ROLES_MANAGE if staffed else P.PLATFORM_TENANTS_MANAGE)
    return {
        "person": person,
        "may_change": manages and person.pk != actor.user_id and not person.is_erased,
        "deletion": deletion.open_deletion(person.pk),
        "may_give_roles": actor.may(P.PLATFORM_ROLES_MANAGE) and not person.is_erased,
        "has_second_factor": second_factor.has_second_factor(person.pk),
        "form": GiveRoleForm(),
    }


@requires(ANY_STAFF)
@require_POST
def disable(request: StaffRequest, user_id: int) -> HttpResponse:
    return _switch(request, user_id, active=False)


@requires(ANY_STAFF)
@require_POST
def enable(request: StaffRequest, user_id: int) -> HttpResponse:
    return _switch(request, user_id, active=True)


def _switch(request: StaffRequest, user_id: int, *, active: bool) -> HttpResponse:
    words = _("%(name)s can sign in again.") if active else _("%(name)s is disabled and signed out everywhere.")
    try:
        user = accounts.set_active(request.actor, user_id=user_id, active=active)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:people_detail", user_id)
    return done(request, words % _name(user), "console:people_detail", user_id)


@requires(ANY_STAFF)
@require_http_methods(["GET", "POST"])
def edit(request: StaffRequest, user_id: int) -> HttpResponse:
    """Name and e-mail."""
    person = reads.person(request.actor, user_id)
    form = DetailsForm(request.POST or None, initial={"name": person.name, "email": person.email})
    context = {"form": form, "person": person}
    if request.method != "POST":
        return render(request, "console/people/edit.html", context)
    if form.is_valid():
        try:
            user = accounts.correct(request.actor, user_id=user_id, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            emails.notify_former_address(request, user, person.email)
            return done(
                request, _("The account of %(name)s was changed.") % _name(user), "console:people_detail", user_id
            )
    return refused(request, "console/people/edit.html", context)


@requires(ANY_STAFF)
@require_POST
def reset_password(request: StaffRequest, user_id: int) -> HttpResponse:
    try:
        password = services.reset_password(request.actor, user_id=user_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:people_detail", user_id)
    return _show_password(request, User.objects.get(pk=user_id), password)


def _show_password(request: HttpRequest, person: User, password: str) -> HttpResponse:
    """Shown in this one response only: not in the session, not in a cache, nowhere else."""
    response = render(request, "console/people/password.html", {"person": person, "password": password})
    response.headers["Cache-Control"] = "no-store"
    return response


@requires(ANY_STAFF)
@require_POST
def reset_second_factor(request: StaffRequest, user_id: int) -> HttpResponse:
    try:
        user = second_factor.reset(request.actor, user_id=user_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:people_detail", user_id)
    words = _("%(name)s signs in without a second factor until they set up a new one.") % _name(user)
    return done(request, words, "console:people_detail", user_id)


@requires(ANY_STAFF)
@require_POST
def sign_out(request: StaffRequest, user_id: int) -> HttpResponse:
    """End every session of somebody; their tokens and keys stay."""
    try:
        count = sessions.end_all_of(request.actor, user_id=user_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:people_detail", user_id)
    words = ngettext("%(count)s sign-in has been ended.", "%(count)s sign-ins have been ended.", count)
    return done(request, words % {"count": count}, "console:people_detail", user_id)


@requires(ROLES)
@require_POST
def give_role(request: StaffRequest, user_id: int) -> HttpResponse:
    person = reads.person(request.actor, user_id)
    form = GiveRoleForm(request.POST)
    if form.is_valid():
        try:
            assign_platform_role(request.actor, user=person, **chosen_role(form.cleaned_data["role"]))
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("%(name)s has the role now.") % _name(person), "console:people_detail", user_id)
    return refused(request, DETAIL, {**_context(request.actor, person), "form": form})


@requires(ROLES)
@require_POST
def take_role(request: StaffRequest, assignment_id: int) -> HttpResponse:
    found = PlatformAssignment.objects.filter(pk=assignment_id).first()
    back = ("console:people_detail", found.user_id) if found else ("console:staff",)
    try:
        withdraw_platform_role(request.actor, assignment_id=assignment_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect(*back)
    return done(request, _("The role was taken away. It counts at the next click."), *back)


def _name(user: User) -> dict[str, str]:
    return {"name": user.display_name}
