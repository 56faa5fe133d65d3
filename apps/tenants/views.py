"""Pages about oneself."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from apps.common.access import SELF, requires
from apps.common.errors import NotFound
from apps.tenants import services


@requires(SELF)
@require_POST
def switch_organisation(request: HttpRequest) -> HttpResponse:
    """Work in another of one's organisations from now on."""
    try:
        organisation_id = UUID(request.POST.get("organisation", ""))
    except ValueError as error:
        raise NotFound from error
    services.choose_organisation(request.actor, organisation_id=organisation_id)
    return redirect("portal:overview")
