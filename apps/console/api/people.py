"""/api/v1/console/people/ and the packages of organisations."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.selectors.review import restriction
from apps.billing.services.review import restrict
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.api.shared import Named
from apps.console.filters.people import PeopleFilter
from apps.console.selectors import organisations
from apps.console.selectors import people as reads
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.tenants.services import accounts
from apps.tenants.services.organisations import set_weight

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


class ByUser(CreatedCursor):
    ordering = "-id"


class Home(serializers.Serializer[Any]):
    organisation = Named(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    priority = serializers.IntegerField(read_only=True)


class PersonOut(serializers.Serializer[User]):
    id = serializers.IntegerField(read_only=True)
    username = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    email = serializers.CharField(read_only=True)
    is_active = serializers.BooleanField(read_only=True)
    last_login = serializers.DateTimeField(allow_null=True, read_only=True)
    date_joined = serializers.DateTimeField(read_only=True)
    memberships = Home(many=True, read_only=True)


@extend_schema(tags=["console: people"])
class People(ScopedView, generics.ListAPIView[User]):
    """Every account, newest first."""

    access = VIEW
    queryset = User.objects.none()
    serializer_class = PersonOut
    pagination_class = ByUser
    filterset_class = PeopleFilter

    def get_queryset(self) -> QuerySet[User]:
        return reads.people(self.actor)


@extend_schema(tags=["console: people"], responses=PersonOut)
class PersonDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, user_id: int) -> Response:
        return Response(PersonOut(reads.person(self.actor, user_id)).data)


@extend_schema(tags=["console: people"], request=None, responses=PersonOut)
class PersonSwitch(ScopedView):
    """Subclasses say which way."""

    access = MANAGE
    active: bool

    def post(self, request: Request, user_id: int) -> Response:
        accounts.set_active(self.actor, user_id=user_id, active=self.active)
        return Response(PersonOut(reads.person(self.actor, user_id)).data)


class Disable(PersonSwitch):
    """Sign-in, tokens and keys stop working. What the person runs goes on; what they have queued does not start."""

    active = False


class Enable(PersonSwitch):
    active = True


class PackagesOut(serializers.Serializer[Any]):
    """`packages` null: it may use all of them."""

    packages = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1), allow_null=True, max_length=1000
    )


@extend_schema(tags=["console: organisations"])
class OrganisationPackages(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=PackagesOut)
    def get(self, request: Request, organisation_id: UUID) -> Response:
        organisations.get(self.actor, organisation_id)
        return Response({"packages": restriction(organisation_id)})

    @extend_schema(request=PackagesOut, responses=PackagesOut)
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Limit the organisation to these packages, or with null to none in particular."""
        given = PackagesOut(data=request.data)
        given.is_valid(raise_exception=True)
        restrict(self.actor, organisation_id=organisation_id, package_ids=given.validated_data["packages"])
        return self.get(request, organisation_id)


class WeightIn(serializers.Serializer[Any]):
    weight = serializers.IntegerField(min_value=1, max_value=100)


@extend_schema(tags=["console: organisations"], request=WeightIn, responses=WeightIn)
class OrganisationWeight(ScopedView):
    access = MANAGE

    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Its share of what is free, relative to other organisations'."""
        given = WeightIn(data=request.data)
        given.is_valid(raise_exception=True)
        set_weight(self.actor, organisation_id=organisation_id, weight=given.validated_data["weight"])
        return Response(given.validated_data)
