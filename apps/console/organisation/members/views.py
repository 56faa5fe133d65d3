"""Members: the list, one of them, many at once, and letting somebody go."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Invalid, NotFound
from apps.common.forms import show_error
from apps.common.pages import done, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.kit import removal
from apps.console.kit.fields import PRIORITIES
from apps.console.kit.organisation_choices import department_choices
from apps.console.kit.places import PlaceForm, initial_of, notify_of_role, place_of
from apps.console.organisation.members.listing import MemberFilter, MemberTable
from apps.console.organisation.shared import people_tabs, with_paths
from apps.tenants import tree
from apps.tenants.authority import rank_of
from apps.tenants.models import Membership
from apps.tenants.roles import RANKS
from apps.tenants.services.members import change_member

MANAGE = in_organisation(P.MEMBERS_MANAGE)
LIST, DETAIL = "organisation/members.html", "organisation/member.html"
BULK_MAX = 200


@requires(MANAGE)
@require_GET
def member_list(request: ActorRequest) -> HttpResponse:
    rows = Membership.objects.filter(organisation_id=request.actor.organisation())
    filtered = MemberFilter(request.GET, queryset=rows.select_related("user", "own_role"), request=request)
    context = {
        "table": with_paths(request, MemberTable(filtered.qs)),
        "filter": filtered,
        "tabs": people_tabs("members"),
        "departments": department_choices(request.actor.organisation(), _("None")),
        "priorities": PRIORITIES,
    }
    return render(request, LIST, context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def detail(request: ActorRequest, user_id: int) -> HttpResponse:
    member = _get(request.actor, user_id)
    form = PlaceForm(request.POST or None, organisation_id=request.actor.organisation(), initial=initial_of(member))
    if request.method == "POST" and form.is_valid():
        try:
            changed = change_member(request.actor, user_id=user_id, place=form.place())
        except DomainError as error:
            show_error(form, error)
        else:
            notify_of_role(request.actor, member, changed)
            words = _("%(name)s was changed. It counts from now on.") % {"name": member.user.display_name}
            return done(request, words, "organisation:members")
    context = _context(request.actor, member, form)
    return refused(request, DETAIL, context) if request.method == "POST" else render(request, DETAIL, context)


@requires(MANAGE)
@require_POST
def bulk(request: ActorRequest) -> HttpResponse:
    """Give the chosen members another department or priority; those who cannot be changed are named."""
    ids = [int(value) for value in request.POST.getlist("id") if value.isdigit()][:BULK_MAX]
    try:
        wanted = _wanted(request)
    except Invalid as error:
        say_refusal(request, error)
        return redirect("organisation:members")
    changed, refusals = 0, []
    for member in Membership.objects.filter(user_id__in=ids).select_related("user", "own_role").order_by("pk"):
        place = replace(place_of(member), **wanted)
        try:
            change_member(request.actor, user_id=member.user_id, place=place)
            changed += 1
        except Conflict as error:
            refusals.append(f"{member.user.display_name}: {error.message}")
        except Invalid as error:
            say_refusal(request, error)
            break
    for words in refusals[:5]:
        messages.error(request, words)
    if changed:
        words = ngettext("%(count)s member was changed.", "%(count)s members were changed.", changed)
        messages.success(request, words % {"count": changed})
    return redirect("organisation:members")


def _wanted(request: HttpRequest) -> dict[str, Any]:
    """What the bulk form sets: one of department and priority. `Invalid` for what is neither."""
    if request.POST.get("act") == "priority" and request.POST.get("priority", "").isdigit():
        return {"priority": int(request.POST["priority"])}
    try:
        chosen = request.POST.get("department", "")
        return {"department_id": UUID(chosen) if chosen else None}
    except ValueError as error:
        raise Invalid.field("department", _("This department does not exist any more.")) from error


@requires(MANAGE)
@require_POST
def remove(request: ActorRequest, user_id: int) -> HttpResponse:
    """`running`: `stop` ends what runs, anything else lets it run to its end."""
    member = _get(request.actor, user_id)
    stop = request.POST.get("running") == "stop"
    try:
        stopped = removal.remove(request.actor, user_id=user_id, stop_running=stop)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("organisation:member", user_id)
    return done(request, removal.removed_words(member, stopped), "organisation:members")


def _get(actor: Actor, user_id: int) -> Membership:
    rows = Membership.objects.filter(organisation_id=actor.organisation(), user_id=user_id)
    found: Membership | None = rows.select_related("user", "own_role", "department").first()
    if found is None:
        raise NotFound
    return found


def _context(actor: Actor, member: Membership, form: PlaceForm) -> dict[str, Any]:
    return {
        "member": member,
        "form": form,
        "live": removal.live_work(member.organisation_id, member.user_id).count(),
        "may_stop": removal.may_stop(actor),
        "path": tree.paths([member.department_id]).get(member.department_id, "") if member.department_id else "",
        "may_change": rank_of(actor, member.organisation_id) > RANKS[member.role],
    }
