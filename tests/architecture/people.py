"""The victim's department, invitation, role and request, for the sweep."""

from typing import Any

from apps.billing.models import PackageRequest
from apps.common.scoping import acting
from apps.tenants.services.departments import create_department
from apps.tenants.services.invitations import Offer, invite
from apps.tenants.services.roles import create_role
from tests.builders import World, actor_of, unknown_id


def people_values(world: World, secret: str) -> dict[str, Any]:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        department = create_department(actor, name=f"{secret} department")
        invitation, _token = invite(actor, offer=Offer(email=f"{secret}@example.com"))
        role = create_role(actor, name=f"{secret} role", permissions=["organisation.view"])
        request = PackageRequest.objects.create(
            organisation=world.organisation, user=world.alice, package=world.package, reason=secret
        )
    return {
        "department_id": department.pk,
        "invitation_id": invitation.pk,
        "role_id": role.pk,
        "request_id": request.pk,
        "platform_role_id": unknown_id(),
        "assignment_id": 0,
        "token": "no-such-token",
    }
