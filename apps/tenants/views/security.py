"""One's own password, second factor and sign-ins."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import IN_PERSON, requires
from apps.common.requests import ActorRequest
from apps.tenants import sessions
from apps.tenants.devices import device_of
from apps.tenants.mfa import second_factor_state
from apps.tenants.views.shared import page, user_of


@requires(IN_PERSON)
@require_GET
def security(request: ActorRequest) -> HttpResponse:
    here = request.session.session_key
    rows = [
        {"session": each, "device": device_of(each.user_agent), "here": each.session_key == here}
        for each in sessions.own_sessions(request.actor)
    ]
    rows.sort(key=lambda row: not row["here"])
    factor = second_factor_state(user_of(request))
    return render(request, "tenants/security.html", page("security", sessions=rows, factor=factor))


@requires(IN_PERSON)
@require_POST
def sign_out_others(request: ActorRequest) -> HttpResponse:
    """End every session of one's own but this one."""
    count = sessions.end_others(request.actor, keep=request.session.session_key)
    text = ngettext("%(count)s other sign-in has been ended.", "%(count)s other sign-ins have been ended.", count)
    messages.success(request, text % {"count": count})
    return redirect("account:security")


@requires(IN_PERSON)
@require_POST
def end_session(request: ActorRequest, session_id: int) -> HttpResponse:
    sessions.end(request.actor, session_id=session_id)
    messages.success(request, _("That device has been signed out."))
    return redirect("account:security")


@requires(IN_PERSON)
@require_GET
def to_security(request: HttpRequest) -> HttpResponse:
    """Where allauth goes after a change of the second factor."""
    return redirect("account:security")
