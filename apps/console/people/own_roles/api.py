"""/api/v1/console/organisations/<id>/roles/: roles of an organisation's own making."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.roles import RoleIn, RoleOut, own_role, own_roles
from apps.console.people.organisations import selectors as reads
from apps.tenants.services import roles

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


@extend_schema(tags=["console: organisations"])
class Roles(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    @extend_schema(responses=RoleOut(many=True))
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """The organisation's own roles, by name."""
        reads.get(self.actor, organisation_id)
        return Response(RoleOut(own_roles(organisation_id).order_by("name"), many=True).data)

    @extend_schema(request=RoleIn, responses={201: RoleOut})
    def post(self, request: Request, organisation_id: UUID) -> Response:
        """Make a role of the permissions that there are in an organisation."""
        given = RoleIn(data=request.data)
        given.is_valid(raise_exception=True)
        reads.get(self.actor, organisation_id)
        made = roles.create_role(self.actor, organisation_id=organisation_id, **given.validated_data)
        return Response(RoleOut(own_role(organisation_id, made.pk)).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: organisations"])
class RoleDetail(ScopedView):
    access = {"get": VIEW, "put": MANAGE, "delete": MANAGE}

    @extend_schema(responses=RoleOut)
    def get(self, request: Request, organisation_id: UUID, role_id: UUID) -> Response:
        return Response(RoleOut(own_role(organisation_id, role_id)).data)

    @extend_schema(request=RoleIn, responses=RoleOut)
    def put(self, request: Request, organisation_id: UUID, role_id: UUID) -> Response:
        """In force at each member's next request."""
        given = RoleIn(data=request.data)
        given.is_valid(raise_exception=True)
        about: dict[str, Any] = {"organisation_id": organisation_id, "role_id": role_id}
        roles.change_role(self.actor, **about, **given.validated_data)
        return self.get(request, **about)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, organisation_id: UUID, role_id: UUID) -> Response:
        """Only while nobody has it."""
        roles.delete_role(self.actor, role_id=role_id, organisation_id=organisation_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
