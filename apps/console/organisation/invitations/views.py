"""Invitations: the list, new ones, sending again, revoking."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import Conflict, DomainError, Invalid
from apps.common.forms import show_error
from apps.common.pages import done, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.organisation.invitations.forms import InvitationForm
from apps.console.organisation.invitations.listing import InvitationFilter, InvitationTable
from apps.console.organisation.shared import people_tabs, with_paths
from apps.tenants.mail import send_invitation
from apps.tenants.models import Invitation
from apps.tenants.services import invitations as services

MANAGE = in_organisation(P.MEMBERS_MANAGE)
LIST, NEW, MADE = (f"organisation/{name}.html" for name in ("invitations", "invitation_new", "invitation_made"))


@requires(MANAGE)
@require_GET
def invitation_list(request: ActorRequest) -> HttpResponse:
    rows = Invitation.objects.filter(organisation_id=request.actor.organisation())
    rows = rows.annotate(expired=ExpressionWrapper(Q(expires_at__lte=Now()), output_field=BooleanField()))
    filtered = InvitationFilter(request.GET, queryset=rows.select_related("own_role", "created_by"), request=request)
    context = {
        "table": with_paths(request, InvitationTable(filtered.qs)),
        "filter": filtered,
        "tabs": people_tabs("member_invitations"),
    }
    return render(request, LIST, context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    form = InvitationForm(request.POST or None, organisation_id=request.actor.organisation())
    if request.method != "POST":
        return render(request, NEW, {"form": form})
    if form.is_valid():
        try:
            made = services.invite_all(request.actor, offers=form.offers())
        except DomainError as error:
            show_error(form, error)
        else:
            return _made(request, made)
    return refused(request, NEW, {"form": form})


def _made(request: HttpRequest, made: list[tuple[Invitation, str]]) -> HttpResponse:
    """A link is shown once, in this answer only; what goes by mail is not shown at all."""
    if made[0][0].email:
        sent = sum(_sent(request, invitation, token) for invitation, token in made)
        _say_sent(request, sent, len(made))
        return redirect("organisation:member_invitations")
    invitation, token = made[0]
    return _shown_once(request, {"invitation": invitation, "link": link_of(request, token)})


def _shown_once(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    response = render(request, MADE, context)
    response.headers["Cache-Control"] = "no-store"
    return response


@requires(MANAGE)
@require_POST
def resend(request: ActorRequest, invitation_id: UUID) -> HttpResponse:
    """A new link in place of the old one: sent again, or shown once."""
    try:
        invitation, token = services.renew(request.actor, invitation_id=invitation_id)
    except (Conflict, Invalid) as error:
        say_refusal(request, error)
        return redirect("organisation:member_invitations")
    return _made(request, [(invitation, token)])


@requires(MANAGE)
@require_POST
def revoke(request: ActorRequest, invitation_id: UUID) -> HttpResponse:
    services.revoke(request.actor, invitation_id=invitation_id)
    return done(request, _("The invitation does not work any more."), "organisation:member_invitations")


def link_of(request: HttpRequest, token: str) -> str:
    return request.build_absolute_uri(reverse("joining:invitation", args=[token]))


def _sent(request: HttpRequest, invitation: Invitation, token: str) -> bool:
    return send_invitation(invitation, link=link_of(request, token))


def _say_sent(request: HttpRequest, sent: int, wanted: int) -> None:
    if sent:
        words = ngettext("%(count)s invitation was sent.", "%(count)s invitations were sent.", sent)
        messages.success(request, words % {"count": sent})
    if sent < wanted:
        words = ngettext(
            "The mail server did not take %(count)s invitation. Send it again, or hand over a link.",
            "The mail server did not take %(count)s invitations. Send them again, or hand over links.",
            wanted - sent,
        )
        messages.error(request, words % {"count": wanted - sent})
