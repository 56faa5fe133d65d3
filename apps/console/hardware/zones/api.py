"""/api/v1/console/zones/: zones and their clusters."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.models import Zone
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByName, checked
from apps.workloads.hardware import removal, simulation

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
ZONES = "console: zones"


class ZoneOut(serializers.Serializer[Zone]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    simulated = serializers.BooleanField(read_only=True)
    billed = serializers.BooleanField(read_only=True)
    trusted_network = serializers.BooleanField(
        read_only=True, help_text="Whether gangs may span its nodes over a network that is not encrypted."
    )
    clusters = serializers.IntegerField(source="cluster_count", read_only=True)
    nodes = serializers.IntegerField(source="node_count", read_only=True)
    accelerators = serializers.IntegerField(source="card_count", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class ClusterOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    nodes = serializers.IntegerField(source="node_count", read_only=True)
    reserved = serializers.BooleanField(
        read_only=True, help_text="Whether only organisations that it is given to see and use it."
    )
    organisations = serializers.IntegerField(
        source="grant_count", read_only=True, help_text="To how many organisations it is given."
    )


class NameIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)


class ZoneChange(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    name = serializers.CharField(max_length=60, required=False)
    trusted_network = serializers.BooleanField(required=False)


@extend_schema(tags=[ZONES])
class Zones(ScopedView, generics.ListAPIView[Zone]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = Zone.objects.none()
    serializer_class = ZoneOut
    pagination_class = ByName
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Zone]:
        return clusters.zones(self.actor)

    @extend_schema(request=NameIn, responses={201: ZoneOut}, tags=[ZONES])
    def post(self, request: Request) -> Response:
        zone = services.create_zone(self.actor, name=checked(NameIn(data=request.data))["name"])
        return Response(ZoneOut(clusters.zone(self.actor, zone.pk)).data, status=status.HTTP_201_CREATED)


class ZoneDetail(ScopedView):
    access = {"get": VIEW, "patch": MANAGE, "delete": MANAGE}

    @extend_schema(tags=[ZONES], responses=ZoneOut)
    def get(self, request: Request, zone_id: UUID) -> Response:
        return Response(ZoneOut(clusters.zone(self.actor, zone_id)).data)

    @extend_schema(tags=[ZONES], request=ZoneChange, responses=ZoneOut)
    def patch(self, request: Request, zone_id: UUID) -> Response:
        change = checked(ZoneChange(data=request.data))
        with transaction.atomic():
            if "name" in change:
                services.rename_zone(self.actor, zone_id=zone_id, name=change["name"])
            if "trusted_network" in change:
                services.set_trusted_network(self.actor, zone_id=zone_id, trusted=change["trusted_network"])
        return self.get(request, zone_id)

    @extend_schema(tags=[ZONES], responses={204: None})
    def delete(self, request: Request, zone_id: UUID) -> Response:
        """An empty zone, or a simulated one on which nothing lives."""
        if clusters.zone(self.actor, zone_id).simulated:
            removal.remove_simulated_zone(self.actor, zone_id=zone_id)
        else:
            services.delete_zone(self.actor, zone_id=zone_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=[ZONES], responses=ClusterOut(many=True))
class ZoneClusters(ScopedView):
    access = VIEW

    def get(self, request: Request, zone_id: UUID) -> Response:
        clusters.zone(self.actor, zone_id)
        return Response(ClusterOut(clusters.clusters_of(self.actor, zone_id), many=True).data)


@extend_schema(tags=[ZONES], request=None, responses={201: ZoneOut})
class SimulatedZone(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """Four nodes with eight cards each that do not exist; nothing on them is charged."""
        zone = simulation.add_zone(self.actor)
        return Response(ZoneOut(clusters.zone(self.actor, zone.pk)).data, status=status.HTTP_201_CREATED)
