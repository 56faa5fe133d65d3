"""/api/v1/organisation/roles/: roles of the organisation's own making."""

from typing import Any
from uuid import UUID

from django.db.models import Count
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.tenants.models import OrganisationRole
from apps.tenants.roles import organisation_permissions
from apps.tenants.services import roles

ROLES = in_organisation(P.ORGANISATION_MANAGE)
PERMISSIONS = [(each.value, each.value) for each in P.every() if each in organisation_permissions()]


class RoleOut(serializers.Serializer[OrganisationRole]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    permissions = serializers.ListField(child=serializers.CharField(), read_only=True)
    used_by = serializers.IntegerField(read_only=True)


class RoleIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    permissions = serializers.ListField(
        child=serializers.ChoiceField(choices=PERMISSIONS), min_length=1, max_length=len(PERMISSIONS)
    )


@extend_schema(tags=["organisation"])
class Roles(ScopedView):
    access = ROLES

    @extend_schema(responses=RoleOut(many=True))
    def get(self, request: Request) -> Response:
        """The organisation's own roles, by name."""
        return Response(RoleOut(_roles(self.actor), many=True).data)

    @extend_schema(request=RoleIn, responses={201: RoleOut})
    def post(self, request: Request) -> Response:
        """Make a role of permissions that one holds oneself."""
        given = RoleIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = roles.create_role(self.actor, **given.validated_data)
        return Response(RoleOut(_roles(self.actor).get(pk=made.pk)).data, status=status.HTTP_201_CREATED)


def _roles(actor: Actor) -> Any:
    """A query set of the organisation's own roles with the number of people who have each."""
    rows = OrganisationRole.objects.filter(organisation_id=actor.organisation())
    return rows.annotate(used_by=Count("memberships"))


@extend_schema(tags=["organisation"])
class RoleDetail(ScopedView):
    access = ROLES

    @extend_schema(request=RoleIn, responses=RoleOut)
    def put(self, request: Request, role_id: UUID) -> Response:
        """In force at each member's next request."""
        given = RoleIn(data=request.data)
        given.is_valid(raise_exception=True)
        changed = roles.change_role(self.actor, role_id=role_id, **given.validated_data)
        return Response(RoleOut(_roles(self.actor).get(pk=changed.pk)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, role_id: UUID) -> Response:
        """Only while nobody has it."""
        roles.delete_role(self.actor, role_id=role_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
