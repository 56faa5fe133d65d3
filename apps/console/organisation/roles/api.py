"""/api/v1/organisation/roles/: roles of the organisation's own making."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.roles import RoleIn, RoleOut, own_role, own_roles
from apps.tenants.services import roles

ROLES = in_organisation(P.ORGANISATION_MANAGE)


@extend_schema(tags=["organisation"])
class Roles(ScopedView):
    access = ROLES

    @extend_schema(responses=RoleOut(many=True))
    def get(self, request: Request) -> Response:
        """The organisation's own roles, by name."""
        return Response(RoleOut(own_roles(self.actor.organisation()), many=True).data)

    @extend_schema(request=RoleIn, responses={201: RoleOut})
    def post(self, request: Request) -> Response:
        """Make a role of permissions that one holds oneself."""
        given = RoleIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = roles.create_role(self.actor, **given.validated_data)
        kept = own_role(self.actor.organisation(), made.pk)
        return Response(RoleOut(kept).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["organisation"])
class RoleDetail(ScopedView):
    access = ROLES

    @extend_schema(request=RoleIn, responses=RoleOut)
    def put(self, request: Request, role_id: UUID) -> Response:
        """In force at each member's next request."""
        given = RoleIn(data=request.data)
        given.is_valid(raise_exception=True)
        changed = roles.change_role(self.actor, role_id=role_id, **given.validated_data)
        return Response(RoleOut(own_role(self.actor.organisation(), changed.pk)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, role_id: UUID) -> Response:
        """Only while nobody has it."""
        roles.delete_role(self.actor, role_id=role_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
