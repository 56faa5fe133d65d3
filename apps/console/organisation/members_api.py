"""/api/v1/organisation/: members, invitations and roles of the organisation that one works in."""

from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.kit.api import OldestFirst, Person
from apps.console.organisation import services
from apps.console.organisation.filters import InvitationFilter, MemberFilter
from apps.tenants.choices import Role
from apps.tenants.models import Invitation, Membership, OrganisationRole
from apps.tenants.roles import organisation_permissions
from apps.tenants.services import invitations, members, roles
from apps.tenants.services.invitations import Offer
from apps.tenants.services.members import Place

PEOPLE = in_organisation(P.MEMBERS_MANAGE)
ROLES = in_organisation(P.ORGANISATION_MANAGE)
PERMISSIONS = [(each.value, each.value) for each in P.every() if each in organisation_permissions()]


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
