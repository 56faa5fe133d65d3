"""/api/v1/organisation/invitations/: the organisation's invitations."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.organisation.invitations.listing import InvitationFilter
from apps.tenants.choices import Role
from apps.tenants.models import Invitation
from apps.tenants.services import invitations
from apps.tenants.services.invitations import Offer
from apps.tenants.services.members import Place

PEOPLE = in_organisation(P.MEMBERS_MANAGE)


class InvitationOut(serializers.Serializer[Invitation]):
    id = serializers.UUIDField(read_only=True)
    email = serializers.CharField(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    own_role_id = serializers.UUIDField(allow_null=True, read_only=True)
    department_id = serializers.UUIDField(allow_null=True, read_only=True)
    max_uses = serializers.IntegerField(read_only=True)
    uses = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
    revoked_at = serializers.DateTimeField(allow_null=True, read_only=True)


class InvitationMade(serializers.Serializer[Any]):
    """`link` is in this answer only."""

    invitation = InvitationOut(read_only=True)
    link = serializers.CharField(read_only=True)


class InvitationIn(serializers.Serializer[Any]):
    """With `email` it works for that address alone; the caller sends the link."""

    email = serializers.EmailField(required=False, allow_blank=True, default="")
    max_uses = serializers.IntegerField(min_value=1, max_value=invitations.MAX_USES, default=1)
    days = serializers.IntegerField(min_value=1, max_value=invitations.MAX_DAYS, default=7)
    role = serializers.ChoiceField(choices=Role.choices, default=Role.MEMBER)
    own_role_id = serializers.UUIDField(allow_null=True, default=None)
    department_id = serializers.UUIDField(allow_null=True, default=None)


@extend_schema(tags=["organisation"])
class Invitations(ScopedView, generics.ListAPIView[Invitation]):
    access = PEOPLE
    queryset = Invitation.objects.none()
    serializer_class = InvitationOut
    pagination_class = CreatedCursor
    filterset_class = InvitationFilter

    def get_queryset(self) -> QuerySet[Invitation]:
        rows: QuerySet[Invitation] = Invitation.objects.filter(organisation_id=self.actor.organisation())
        return rows

    @extend_schema(request=InvitationIn, responses={201: InvitationMade})
    def post(self, request: Request) -> Response:
        """Make an invitation; its link is told once."""
        given = InvitationIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        place = Place(role=Role(data["role"]), own_role_id=data["own_role_id"], department_id=data["department_id"])
        offer = Offer(place, email=data["email"], max_uses=data["max_uses"], days=data["days"])
        made, token = invitations.invite(self.actor, offer=offer)
        link = request.build_absolute_uri(reverse("joining:invitation", args=[token]))
        answer = InvitationMade({"invitation": made, "link": link}).data
        return Response(answer, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


@extend_schema(tags=["organisation"], request=None, responses={204: None})
class InvitationRevoke(ScopedView):
    access = PEOPLE

    def post(self, request: Request, invitation_id: UUID) -> Response:
        """Its link stops working at once."""
        invitations.revoke(self.actor, invitation_id=invitation_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
