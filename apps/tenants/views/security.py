"""One's own password and sign-ins."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import SELF, requires
from apps.common.requests import ActorRequest
from apps.tenants.sessions import end_others
from apps.tenants.views.shared import page


@requires(SELF)
@require_GET
def security(request: ActorRequest) -> HttpResponse:
    return render(request, "tenants/security.html", page("security"))


@requires(SELF)
@require_POST
def sign_out_others(request: ActorRequest) -> HttpResponse:
    """End every session of one's own but this one."""
    count = end_others(request.actor, keep=request.session.session_key)
    text = ngettext("%(count)s other sign-in has been ended.", "%(count)s other sign-ins have been ended.", count)
    messages.success(request, text % {"count": count})
    return redirect("account:security")
