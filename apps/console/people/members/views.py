"""The members of one organisation, adding one, and one of them: place and limits."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit import removal
from apps.console.kit.levels import books_of_people
from apps.console.kit.places import PlaceForm, initial_of
from apps.console.kit.requests import StaffRequest
from apps.console.people.limits import limits_form, person_rows, set_limits_of
from apps.console.people.members import services
from apps.console.people.members.forms import MemberForm
from apps.console.people.members.listing import MemberTable
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.views import frame
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
NEW, MEMBER = "console/organisations/member_new.html", "console/organisations/member.html"


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


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def member_detail(request: StaffRequest, organisation_id: UUID, user_id: int) -> HttpResponse:
    """Role, department and priority, and the person's own limits, each with a button of its own."""
    member = reads.member(request.actor, organisation_id, user_id)
    sent = request.POST if request.method == "POST" else None
    limiting = sent is not None and sent.get("act") == "limits"
    form = PlaceForm(None if limiting else sent, organisation_id=organisation_id, initial=initial_of(member))
    limits = limits_form(organisation_id, {"user_id": user_id}, sent if limiting else None)
    if sent is not None:
        request.actor.require(P.PLATFORM_TENANTS_MANAGE)
        if limiting:
            words = set_limits_of(request.actor, organisation_id, {"user_id": user_id}, limits)
        else:
            words = _moved(request.actor, member, form)
        if words:
            return done(request, words, "console:organisation_member", organisation_id, user_id)
    context = {
        **frame(request.actor, reads.get(request.actor, organisation_id), "members"),
        "member": member,
        "form": form,
        "limits": limits,
        "rows": person_rows(limits, member),
        "live": removal.live_work(organisation_id, user_id).count(),
        "may_stop": removal.may_stop(request.actor),
    }
    return render(request, MEMBER, context, status=REFUSED if sent is not None else 200)


@requires(MANAGE)
@require_POST
def member_remove(request: StaffRequest, organisation_id: UUID, user_id: int) -> HttpResponse:
    """`running`: `stop` ends what runs, anything else lets it run to its end."""
    member = reads.member(request.actor, organisation_id, user_id)
    stop = request.POST.get("running") == "stop"
    try:
        stopped = removal.remove(
            request.actor, user_id=user_id, stop_running=stop, organisation_id=member.organisation_id
        )
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:organisation_member", organisation_id, user_id)
    return done(request, removal.removed_words(member, stopped), "console:organisation_members", organisation_id)


def _moved(actor: Actor, member: Membership, form: PlaceForm) -> str:
    """What was done; empty: refused, and the form says why."""
    if not form.is_valid():
        return ""
    try:
        services.change_place(actor, member, place=form.place())
    except DomainError as error:
        show_error(form, error)
        return ""
    return _("%(name)s was changed. It counts from now on.") % {"name": member.user.display_name}
