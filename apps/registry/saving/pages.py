"""Pages of image savings: the list, and cancelling one."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest, safe_return
from apps.registry.distribution.client import is_configured
from apps.registry.saving import selectors, services
from apps.registry.saving.listing import SavingFilter, SavingTable
from apps.registry.saving.showing import shown

USE = in_organisation(Permission.IMAGES_USE)


@requires(USE)
@require_GET
def saving_list(request: ActorRequest) -> HttpResponse:
    filtered = SavingFilter(request.GET, queryset=selectors.savings(request.actor), request=request)
    table = SavingTable(filtered.qs)
    paged(request, table)
    rows = [row.record for row in table.page.object_list]
    for each in shown(request.actor, rows):
        each.saving.shown = each  # type: ignore[attr-defined]
    nothing_yet = not filtered.form.has_changed() and not rows
    context = {"table": table, "filter": filtered, "nothing_yet": nothing_yet, "is_configured": is_configured()}
    return render(request, "registry/saving/list.html", context)


@requires(USE)
@require_POST
def cancel(request: ActorRequest, saving_id: UUID) -> HttpResponse:
    """Back to `next`, a page of this site, or to the list."""
    try:
        services.cancel(request.actor, saving_id)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("It is being cancelled."))
    return redirect(safe_return(request, request.POST.get("next", ""), "registry:savings"))
