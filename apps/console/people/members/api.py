"""/api/v1/console/organisations/<id>/members/: an organisation's members."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit import removal
from apps.console.kit.api import OldestFirst, Person
from apps.console.kit.places import OrganisationMemberOut, PlaceIn, place_with
from apps.console.people.members import services
from apps.console.people.organisations import selectors as reads
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from apps.tenants.services import Person as NewPerson

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


class MemberOut(serializers.Serializer[Membership]):
    user = Person(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    priority = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class MemberIn(serializers.Serializer[Any]):
    """A new account, or with `existing` somebody who has one (by user name or e-mail)."""

    username = serializers.CharField(max_length=150)
    existing = serializers.BooleanField(default=False)
    name = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    email = serializers.CharField(max_length=254, required=False, allow_blank=True, default="")
    role = serializers.ChoiceField(choices=Role.choices, default=Role.MEMBER)
    priority = serializers.IntegerField(min_value=1, max_value=5, default=3)


class MemberAdded(serializers.Serializer[Any]):
    """`password` is the generated one of a new account: in this answer only, and null for an existing one."""

    user = Person(read_only=True)
    password = serializers.CharField(allow_null=True, read_only=True)


@extend_schema(tags=["console: organisations"])
class Members(ScopedView, generics.ListAPIView[Membership]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = Membership.objects.none()
    serializer_class = MemberOut
    pagination_class = OldestFirst

    def get_queryset(self) -> QuerySet[Membership]:
        reads.get(self.actor, self.kwargs["organisation_id"])
        return reads.members(self.actor, self.kwargs["organisation_id"])

    @extend_schema(request=MemberIn, responses={201: MemberAdded})
    def post(self, request: Request, organisation_id: UUID) -> Response:
        """Add a person with a role and a priority."""
        given = MemberIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        place = {"organisation_id": organisation_id, "role": Role(data["role"]), "priority": data["priority"]}
        if data["existing"]:
            user, password = services.add_existing_person(self.actor, name=data["username"], **place), None
        else:
            person = NewPerson(username=data["username"], email=data["email"], name=data["name"])
            user, password = services.add_new_person(self.actor, person=person, **place)
        answer = MemberAdded({"user": user, "password": password}).data
        return Response(answer, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


@extend_schema(tags=["console: organisations"])
class MemberDetail(ScopedView):
    access = {"get": VIEW, "patch": MANAGE, "delete": MANAGE}

    @extend_schema(responses=OrganisationMemberOut)
    def get(self, request: Request, organisation_id: UUID, user_id: int) -> Response:
        return Response(OrganisationMemberOut(reads.member(self.actor, organisation_id, user_id)).data)

    @extend_schema(request=PlaceIn, responses=OrganisationMemberOut)
    def patch(self, request: Request, organisation_id: UUID, user_id: int) -> Response:
        """Change role, department, priority or weight."""
        given = PlaceIn(data=request.data)
        given.is_valid(raise_exception=True)
        member = reads.member(self.actor, organisation_id, user_id)
        place = place_with(member, given.validated_data)
        changed = services.change_place(self.actor, member, place=place)
        return Response(OrganisationMemberOut(changed).data)

    @extend_schema(parameters=[removal.STOP], responses={204: None})
    def delete(self, request: Request, organisation_id: UUID, user_id: int) -> Response:
        """End a membership. What they made stays; what runs goes on, unless `stop`; what is queued does not start."""
        member = reads.member(self.actor, organisation_id, user_id)
        stop = removal.stop_asked(request)
        removal.remove(self.actor, user_id=member.user_id, stop_running=stop, organisation_id=organisation_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
