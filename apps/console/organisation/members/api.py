"""/api/v1/organisation/members/: the organisation's members."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.permissions import Permission as P
from apps.console.kit.api import OldestFirst, Person
from apps.console.organisation.members import services
from apps.console.organisation.members.listing import MemberFilter
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from apps.tenants.services import members
from apps.tenants.services.members import Place

PEOPLE = in_organisation(P.MEMBERS_MANAGE)


class OrganisationMemberOut(serializers.Serializer[Membership]):
    user = Person(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    own_role_id = serializers.UUIDField(allow_null=True, read_only=True)
    department_id = serializers.UUIDField(allow_null=True, read_only=True)
    priority = serializers.IntegerField(read_only=True)
    weight = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class PlaceIn(serializers.Serializer[Any]):
    """What is left out stays. `priority` 5 goes first in the queue; `weight`: the share among people beside them."""

    role = serializers.ChoiceField(choices=Role.choices, required=False)
    own_role_id = serializers.UUIDField(allow_null=True, required=False)
    department_id = serializers.UUIDField(allow_null=True, required=False)
    priority = serializers.IntegerField(min_value=1, max_value=5, required=False)
    weight = serializers.IntegerField(min_value=1, max_value=100, required=False)


@extend_schema(tags=["organisation"])
class OrganisationMembers(ScopedView, generics.ListAPIView[Membership]):
    """Members, oldest first."""

    access = PEOPLE
    queryset = Membership.objects.none()
    serializer_class = OrganisationMemberOut
    pagination_class = OldestFirst
    filterset_class = MemberFilter

    def get_queryset(self) -> QuerySet[Membership]:
        return _members(self.actor.organisation())


def _members(organisation_id: UUID) -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.filter(organisation_id=organisation_id)
    return rows.select_related("user")


@extend_schema(tags=["organisation"])
class OrganisationMember(ScopedView):
    access = PEOPLE

    def _get(self, user_id: int) -> Membership:
        found = _members(self.actor.organisation()).filter(user_id=user_id).first()
        if found is None:
            raise NotFound
        return found

    @extend_schema(responses=OrganisationMemberOut)
    def get(self, request: Request, user_id: int) -> Response:
        return Response(OrganisationMemberOut(self._get(user_id)).data)

    @extend_schema(request=PlaceIn, responses=OrganisationMemberOut)
    def patch(self, request: Request, user_id: int) -> Response:
        """Change role, department or priority of somebody of lower rank."""
        given = PlaceIn(data=request.data)
        given.is_valid(raise_exception=True)
        now = self._get(user_id)
        wanted = {
            "role": now.role,
            "own_role_id": now.own_role_id,
            "department_id": now.department_id,
            "priority": now.priority,
            "weight": now.weight,
        } | given.validated_data
        place = Place(**{**wanted, "role": Role(wanted["role"])})
        return Response(OrganisationMemberOut(members.change_member(self.actor, user_id=user_id, place=place)).data)

    @extend_schema(
        parameters=[OpenApiParameter("stop", bool, description="Also stop what the person runs.")],
        responses={204: None},
    )
    def delete(self, request: Request, user_id: int) -> Response:
        """End a membership. What they made stays; what runs goes on, unless `stop`; what is queued does not start."""
        stop = request.query_params.get("stop", "").lower() in ("1", "true", "yes")
        services.remove(self.actor, user_id=user_id, stop_running=stop)
        return Response(status=status.HTTP_204_NO_CONTENT)
