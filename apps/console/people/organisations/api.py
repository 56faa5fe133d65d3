"""/api/v1/console/organisations/: organisations, freezing and unfreezing them."""

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
from apps.console.kit.api import ByName
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.listing import OrganisationListFilter
from apps.tenants import services as tenants
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


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
