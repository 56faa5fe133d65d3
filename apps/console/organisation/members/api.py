"""/api/v1/organisation/members/: the organisation's members."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.permissions import Permission as P
from apps.console.kit import removal
from apps.console.kit.api import OldestFirst
from apps.console.kit.places import OrganisationMemberOut, PlaceIn, place_with
from apps.console.organisation.members.listing import MemberFilter
from apps.tenants.models import Membership
from apps.tenants.services import members

PEOPLE = in_organisation(P.MEMBERS_MANAGE)


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
        place = place_with(self._get(user_id), given.validated_data)
        return Response(OrganisationMemberOut(members.change_member(self.actor, user_id=user_id, place=place)).data)

    @extend_schema(
        parameters=[removal.STOP],
        responses={204: None},
    )
    def delete(self, request: Request, user_id: int) -> Response:
        """End a membership. What they made stays; what runs goes on, unless `stop`; what is queued does not start."""
        removal.remove(self.actor, user_id=user_id, stop_running=removal.stop_asked(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
