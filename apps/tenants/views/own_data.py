"""A copy of one's own data: what is in it, asking for it, fetching it.

There is no endpoint beside these pages: a token that leaks must not take all of a person's data along.
"""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import IN_PERSON, requires
from apps.common.files import attachment
from apps.common.pages import done
from apps.common.requests import ActorRequest
from apps.tenants.confirming import confirm_identity
from apps.tenants.own_data_zip import own_tables
from apps.tenants.services import own_data
from apps.tenants.views.shared import page, user_of

TEMPLATE, STATE = "tenants/own_data.html", "tenants/own_data_state.html"


@requires(IN_PERSON)
@require_http_methods(["GET", "POST"])
def copy(request: ActorRequest) -> HttpResponse:
    """What a copy holds; POST asks for one."""
    if request.method == "POST":
        confirm_identity(request)
        own_data.ask(request.actor)
        return done(request, _("Your data is being put together. You are told when it is ready."), "account:own_data")
    context = page("security", export=own_data.latest(request.actor), tables=own_tables())
    return render(request, TEMPLATE, context)


@requires(IN_PERSON)
@require_GET
def state(request: ActorRequest) -> HttpResponse:
    """How far it is, asked for while it is under way."""
    return render(request, STATE, {"export": own_data.latest(request.actor)})


@requires(IN_PERSON)
@require_GET
def download(request: ActorRequest, export_id: UUID) -> HttpResponse:
    confirm_identity(request)
    found = own_data.download(request.actor, export_id)
    name = f"{user_of(request).username}-{timezone.localtime(found.ready_at):%Y%m%d}.zip"
    response = attachment(bytes(found.content or b""), name, "application/zip")
    response.headers["Cache-Control"] = "private, no-store"
    return response
