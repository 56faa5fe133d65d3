"""/api/v1/console/clusters/: logical clusters, and the organisations that they are given to."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.models import ClusterGrant, LogicalCluster
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByKey, checked

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
ZONES = "console: zones"


class LogicalClusterOut(serializers.Serializer[LogicalCluster]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    zone = serializers.UUIDField(source="zone_id", read_only=True)
    reserved = serializers.BooleanField(
        read_only=True, help_text="Whether only organisations that it is given to see and use it."
    )


class ClusterChange(serializers.Serializer[Any]):
    reserved = serializers.BooleanField()


class GrantOut(serializers.Serializer[ClusterGrant]):
    organisation_id = serializers.UUIDField(read_only=True)
    organisation = serializers.CharField(source="organisation.name", read_only=True)
    since = serializers.DateTimeField(source="created_at", read_only=True)


class GrantIn(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField()


@extend_schema(tags=[ZONES], responses=LogicalClusterOut)
class ClusterDetail(ScopedView):
    access = {"get": VIEW, "patch": MANAGE}

    def get(self, request: Request, cluster_id: UUID) -> Response:
        return Response(LogicalClusterOut(clusters.cluster(self.actor, cluster_id)).data)

    @extend_schema(request=ClusterChange)
    def patch(self, request: Request, cluster_id: UUID) -> Response:
        """Reserve it, or open it to every organisation. What runs is left alone."""
        reserved = checked(ClusterChange(data=request.data))["reserved"]
        services.reserve_cluster(self.actor, cluster_id=cluster_id, reserved=reserved)
        return self.get(request, cluster_id)


@extend_schema(tags=[ZONES])
class ClusterOrganisations(ScopedView, generics.ListAPIView[ClusterGrant]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = ClusterGrant.objects.none()
    serializer_class = GrantOut
    pagination_class = ByKey
    filter_backends = ()

    def get_queryset(self) -> QuerySet[ClusterGrant]:
        return clusters.organisations_of(self.actor, self.kwargs["cluster_id"])

    @extend_schema(request=GrantIn, responses={204: None})
    def post(self, request: Request, cluster_id: UUID) -> Response:
        """Give a reserved cluster to an organisation; 409 while it is open to all."""
        organisation = checked(GrantIn(data=request.data))["organisation_id"]
        services.give_cluster(self.actor, cluster_id=cluster_id, organisation_id=organisation)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=[ZONES], responses={204: None})
class ClusterOrganisation(ScopedView):
    access = MANAGE

    def delete(self, request: Request, cluster_id: UUID, organisation_id: UUID) -> Response:
        """Take it back: what the organisation runs there goes on until it ends, and nothing new of it starts."""
        services.withdraw_cluster(self.actor, cluster_id=cluster_id, organisation_id=organisation_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
