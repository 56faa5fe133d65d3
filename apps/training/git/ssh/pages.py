"""The SSH servers that the organisation knows: listed, and forgotten where their key changed."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tenants.ssh_format import KINDS
from apps.training.git.ssh import host_keys

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


@requires(SUBMIT)
@require_GET
def host_list(request: ActorRequest) -> HttpResponse:
    """`?q=` looks for a part of the name."""
    looked_for = request.GET.get("q", "").strip()[:270]
    found = host_keys.known_hosts(request.actor)
    rows: list[dict[str, Any]] = [
        {
            "id": str(host.pk),
            "host": host,
            "kind": KINDS.get(host.key.split(" ")[0], host.key.split(" ")[0]),
            "may_forget": host_keys.may_forget(request.actor, host),
        }
        for host in found.filter(host__icontains=looked_for)
    ]
    return render(request, "training/git_hosts.html", {"rows": rows, "looked_for": looked_for})


@requires(SUBMIT)
@require_POST
def forget(request: ActorRequest, host_id: UUID) -> HttpResponse:
    try:
        host = host_keys.forget(request.actor, host_id)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("training:git_hosts")
    return done(request, _("%(name)s is forgotten.") % {"name": host.host}, "training:git_hosts")
