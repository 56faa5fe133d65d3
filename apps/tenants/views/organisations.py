"""Where one belongs, and what one may use there."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import SELF, requires
from apps.common.errors import NotFound
from apps.common.formatting import memory
from apps.common.requests import ActorRequest
from apps.tenants import services
from apps.tenants.actors import memberships
from apps.tenants.choices import OrganisationStatus, Resource, Role
from apps.tenants.quotas import amount_text, line_words
from apps.tenants.selectors import Limit, own_limits, platform_roles
from apps.tenants.views.shared import page


@requires(SELF)
@require_POST
def switch_organisation(request: ActorRequest) -> HttpResponse:
    """Work in another of one's organisations from now on."""
    try:
        organisation_id = UUID(request.POST.get("organisation", ""))
    except ValueError as error:
        raise NotFound from error
    services.choose_organisation(request.actor, organisation_id=organisation_id)
    return redirect("portal:overview")


@requires(SELF)
@require_GET
def organisations(request: ActorRequest) -> HttpResponse:
    """Where one belongs, as what, and what limits there are in the current organisation."""
    actor, user = request.actor, request.user
    rows = [
        {
            "membership": member,
            "role": Role(member.role).label,
            "frozen": member.organisation.status != OrganisationStatus.ACTIVE,
            "current": member.organisation_id == actor.organisation_id,
        }
        for member in memberships(user)  # type: ignore[arg-type]
    ]
    context = {
        "rows": rows,
        "limits": [_limit(each) for each in own_limits(actor)],
        "staff": platform_roles(actor.person()),
    }
    return render(request, "tenants/organisations.html", page("organisations", **context))


def _limit(each: Limit) -> dict[str, Any]:
    whose = {"user": _("yours"), "department": _("the department's"), "organisation": _("the organisation's")}
    return {
        "label": line_words(each.resource, each.model),
        "used": each.used,
        "limit": each.limit,
        "used_text": _amount(each.resource, each.used),
        "limit_text": _amount(each.resource, each.limit or 0),
        "whose": whose.get(each.whose, ""),
        "full": each.limit is not None and each.used >= each.limit,
    }


def _amount(resource: Resource, amount: int) -> str:
    return memory(amount) if resource in (Resource.MEMORY_MIB, Resource.STORAGE_MIB) else amount_text(resource, amount)
