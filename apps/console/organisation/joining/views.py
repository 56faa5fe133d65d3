"""What an invitation's link opens: who invites, into what, and the way in. For people with and without an account."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import PUBLIC, SELF, requires
from apps.common.errors import Conflict, NotFound
from apps.common.pages import done, say_refusal
from apps.common.requests import ActorRequest
from apps.notifications.services import notify_organisation
from apps.tenants import registration
from apps.tenants.services import invitations as services

PAGE = "organisation/join.html"
GONE = "organisation/join_gone.html"


@requires(PUBLIC)
@require_GET
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Says what one is invited into; joining takes a click, so that mail scanners join nothing."""
    try:
        found = services.find(token)
    except NotFound as error:
        return render(request, GONE, {"error": error}, status=404)
    registration.remember_invitation(request, token)
    here = request.get_full_path()
    context = {
        "invitation": found,
        "token": token,
        "sign_in_url": f"{reverse('account_login')}?next={here}",
        "register_url": f"{reverse('account_signup')}?next={here}",
    }
    response = render(request, PAGE, context)
    response.headers["Cache-Control"] = "no-store"
    return response


@requires(SELF)
@require_POST
def accept(request: ActorRequest, token: str) -> HttpResponse:
    try:
        membership = services.accept(request.actor, token=token)
    except NotFound as error:
        return render(request, GONE, {"error": error}, status=404)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("joining:invitation", token)
    registration.forget_invitation(request)
    organisation = membership.organisation
    data = {"person": request.actor.label, "organisation": organisation.name}
    notify_organisation(
        organisation_id=organisation.pk, kind="member.joined", data=data, dedup=f"joined:{membership.pk}"
    )
    words = _("Welcome to %(organisation)s.") % {"organisation": organisation.name}
    return done(request, words, "portal:overview")
