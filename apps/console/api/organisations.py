"""/api/v1/console/organisations/: organisations, their members and quotas."""

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
from apps.console.api.shared import ByName, OldestFirst, Person
from apps.console.filters.organisations import OrganisationListFilter
from apps.console.selectors import organisations as reads
from apps.console.services import organisations as services
from apps.tenants import services as tenants
from apps.tenants.choices import OrganisationStatus, Resource, Role
from apps.tenants.models import Membership, Organisation
from apps.tenants.services import Person as NewPerson

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
LINES = [(resource.value, resource.label) for resource in Resource.every()]


class OrganisationOut(serializers.Serializer[Organisation]):
    """`balance_fen` is absent for staff who may not see money."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    slug = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(choices=OrganisationStatus.choices, read_only=True)
    members = serializers.IntegerField(read_only=True)
    live_workloads = serializers.IntegerField(source="live", read_only=True)
    balance_fen = serializers.IntegerField(read_only=True, required=False)
    created_at = serializers.DateTimeField(read_only=True)


class OrganisationIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    slug = serializers.SlugField(max_length=40, required=False, allow_blank=True, default="")


@extend_schema(tags=["console: organisations"])
class Organisations(ScopedView, generics.ListAPIView[Organisation]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = Organisation.objects.none()
    serializer_class = OrganisationOut
    pagination_class = ByName
    filterset_class = OrganisationListFilter

    def get_queryset(self) -> QuerySet[Organisation]:
        return reads.organisations(self.actor)

    @extend_schema(request=OrganisationIn, responses={201: OrganisationOut})
    def post(self, request: Request) -> Response:
        """Create an active organisation."""
        given = OrganisationIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = tenants.create_organisation(self.actor, **given.validated_data)
        found = reads.get(self.actor, made.pk) if self.actor.may(P.PLATFORM_TENANTS_VIEW) else made
        return Response(OrganisationOut(found).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: organisations"], responses=OrganisationOut)
class OrganisationDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, organisation_id: UUID) -> Response:
        return Response(OrganisationOut(reads.get(self.actor, organisation_id)).data)


@extend_schema(tags=["console: organisations"], request=None, responses=OrganisationOut)
class OrganisationStatusChange(ScopedView):
    """Subclasses say which status they set."""

    access = MANAGE
    to: OrganisationStatus

    def post(self, request: Request, organisation_id: UUID) -> Response:
        tenants.set_organisation_status(self.actor, organisation_id=organisation_id, status=self.to)
        return Response(OrganisationOut(reads.get(self.actor, organisation_id)).data)


class Freeze(OrganisationStatusChange):
    """Its people may read and nothing else. What runs goes on; what is queued ends without a start."""

    to = OrganisationStatus.FROZEN


class Unfreeze(OrganisationStatusChange):
    to = OrganisationStatus.ACTIVE


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


class QuotaOut(serializers.Serializer[Any]):
    """In milli-cores, MiB, thousandths of a card, pieces; `limit` null means unlimited.

    `model`: of this accelerator model only; empty for all together.
    """

    resource = serializers.ChoiceField(choices=LINES, read_only=True)
    model = serializers.CharField(read_only=True)
    used = serializers.IntegerField(read_only=True)
    limit = serializers.IntegerField(allow_null=True, read_only=True)


class QuotaIn(serializers.Serializer[Any]):
    resource = serializers.ChoiceField(choices=LINES)
    model = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    limit = serializers.IntegerField(min_value=0, max_value=10**12, allow_null=True)


@extend_schema(tags=["console: organisations"])
class Quotas(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=QuotaOut(many=True))
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """Every resource with what is in use and its limit."""
        reads.get(self.actor, organisation_id)
        return Response(QuotaOut(reads.limits(self.actor, organisation_id), many=True).data)

    @extend_schema(request=QuotaIn(many=True), responses=QuotaOut(many=True))
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Set the limits of the resources that are named; the others stay."""
        given = QuotaIn(data=request.data, many=True)
        given.is_valid(raise_exception=True)
        reads.get(self.actor, organisation_id)
        limits = {(Resource(row["resource"]), row["model"]): row["limit"] for row in given.validated_data}
        services.set_limits(self.actor, organisation_id=organisation_id, limits=limits)
        return self.get(request, organisation_id)
