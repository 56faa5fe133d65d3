"""The registry: what its collections freed, and one now."""

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.pages import done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.work.registry.listing import CapacityTable, CollectionTable
from apps.console.work.registry.selectors import capacity_lines
from apps.registry.distribution import collecting
from apps.registry.distribution.client import is_configured

MANAGE = on_platform(P.PLATFORM_IMAGES_MANAGE)


@requires(MANAGE)
@require_GET
def registry(request: StaffRequest) -> HttpResponse:
    rows = collecting.collections(request.actor)
    context = {
        "is_configured": is_configured(),
        "is_offered": collecting.is_offered(),
        "is_on": rows.filter(ended_at__isnull=True).exists(),
        "hour": settings.REGISTRY_COLLECTION_HOUR,
        "table": paged(request, CollectionTable(rows)),
        "capacities": paged(request, CapacityTable(capacity_lines(request.actor), prefix="organisations-")),
    }
    return render(request, "console/registry/registry.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def collect(request: StaffRequest) -> HttpResponse:
    """GET: the question for the dialog. POST: have what nothing points to removed soon."""
    if request.method != "POST":
        context = {
            "title": _("Collect now?"),
            "text": _("The registry is away for some seconds, once nobody pushes or pulls; who comes then waits."),
            "lost": _("Layers that no image names any more"),
            "kept": _("Every image, tagged or not, and what is being pushed"),
            "action": reverse("console:registry_collect"),
            "button": _("Collect"),
            "plain": True,
        }
        return render(request, "components/confirm_body.html", context)
    try:
        collecting.ask(request.actor)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:registry")
    return done(request, _("The collection begins in a moment."), "console:registry")
