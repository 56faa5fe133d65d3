"""The switch beside a port on the page of what runs."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.workloads import kinds
from apps.workloads.ports.sharing import set_shared


@requires(in_organisation(Permission.ORGANISATION_VIEW))
@require_POST
def share(request: ActorRequest, workload_id: UUID, port: str) -> HttpResponse:
    """`shared` in the form: with the organisation; without it, with nobody any more."""
    shared = "shared" in request.POST
    workload = set_shared(request.actor, workload_id, port, shared=shared)
    said = _("Everybody in the organisation may open the port now.") if shared else _("Only you may open the port now.")
    messages.success(request, said)
    return redirect(kinds.kind_of(workload).page, workload.pk)
