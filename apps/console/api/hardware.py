"""/api/v1/console/zones/, accelerators/, nodes/…: what operators do with hardware, as the pages do it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.choices import AcceleratorMode, DrainAction
from apps.clusters.models import Accelerator, Zone
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.api.cards import CARDS, CardOut
from apps.console.api.nodes import NodeDetail, NodeOut
from apps.console.api.shared import ByName, OldestFirst
from apps.console.filters.hardware import CardFilter
from apps.console.selectors import accelerators as reads
from apps.workloads.hardware import drains, lost, modes, removal, simulation
from apps.workloads.nodes import make_token

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
ZONES, NODES = "console: zones", "console: nodes"


class ZoneOut(serializers.Serializer[Zone]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    simulated = serializers.BooleanField(read_only=True)
    billed = serializers.BooleanField(read_only=True)
    clusters = serializers.IntegerField(source="cluster_count", read_only=True)
    nodes = serializers.IntegerField(source="node_count", read_only=True)
    accelerators = serializers.IntegerField(source="card_count", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class ClusterOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    nodes = serializers.IntegerField(source="node_count", read_only=True)


class NameIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)


class ModeIn(serializers.Serializer[Any]):
    """`seen`: the mode that it was in when you looked; 409 where it has been switched since."""

    mode = serializers.ChoiceField(choices=AcceleratorMode.choices)
    seen = serializers.ChoiceField(choices=AcceleratorMode.choices, required=False)


class DrainIn(serializers.Serializer[Any]):
    """`notice_minutes`: how long what runs may stay."""

    action = serializers.ChoiceField(choices=DrainAction.choices, default=DrainAction.REQUEUE.value)
    notice_minutes = serializers.IntegerField(min_value=0, max_value=7 * 24 * 60, default=30)


class RemoveIn(serializers.Serializer[Any]):
    """`declare_lost`: declare it lost first, as for a machine that never answers again."""

    declare_lost = serializers.BooleanField(default=False)


class LabelsIn(serializers.Serializer[Any]):
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True, max_length=120))


class TokenIn(serializers.Serializer[Any]):
    cluster_id = serializers.UUIDField()
    uses = serializers.IntegerField(min_value=1, max_value=100, default=1)


class TokenOut(serializers.Serializer[Any]):
    token = serializers.CharField(read_only=True)


def _checked(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    found: dict[str, Any] = serializer.validated_data
    return found


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
        zone = services.create_zone(self.actor, name=_checked(NameIn(data=request.data))["name"])
        return Response(ZoneOut(clusters.zone(self.actor, zone.pk)).data, status=status.HTTP_201_CREATED)


class ZoneDetail(ScopedView):
    access = {"get": VIEW, "patch": MANAGE, "delete": MANAGE}

    @extend_schema(tags=[ZONES], responses=ZoneOut)
    def get(self, request: Request, zone_id: UUID) -> Response:
        return Response(ZoneOut(clusters.zone(self.actor, zone_id)).data)

    @extend_schema(tags=[ZONES], request=NameIn, responses=ZoneOut)
    def patch(self, request: Request, zone_id: UUID) -> Response:
        services.rename_zone(self.actor, zone_id=zone_id, name=_checked(NameIn(data=request.data))["name"])
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


@extend_schema(tags=[CARDS])
class Accelerators(ScopedView, generics.ListAPIView[Accelerator]):
    access = VIEW
    queryset = Accelerator.objects.none()
    serializer_class = CardOut
    pagination_class = OldestFirst
    filterset_class = CardFilter

    def get_queryset(self) -> QuerySet[Accelerator]:
        return clusters.cards(self.actor)


@extend_schema(tags=[CARDS], request=ModeIn, responses=CardOut)
class AcceleratorSwitch(ScopedView):
    access = MANAGE

    def post(self, request: Request, card_id: UUID) -> Response:
        """409 names the work that is in the way."""
        asked = _checked(ModeIn(data=request.data))
        seen = AcceleratorMode(asked["seen"]) if "seen" in asked else None
        modes.set_card_mode(self.actor, card_id=card_id, mode=AcceleratorMode(asked["mode"]), seen=seen)
        return Response(CardOut(reads.view_of(clusters.card(self.actor, card_id)).card).data)


@extend_schema(tags=[NODES], request=DrainIn, responses=NodeOut)
class NodeDrain(NodeDetail):
    access = MANAGE
    http_method_names = ["post", "delete", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        """Begin to empty the node, or change the deadline."""
        asked = _checked(DrainIn(data=request.data))
        notice = timedelta(minutes=asked["notice_minutes"])
        drains.drain(self.actor, node_id=node_id, action=DrainAction(asked["action"]), notice=notice)
        return Response(self.shown(node_id))

    @extend_schema(tags=[NODES], request=None, responses=NodeOut)
    def delete(self, request: Request, node_id: UUID) -> Response:
        """Cancel the drain: the node takes work again."""
        drains.cancel(self.actor, node_id=node_id)
        return Response(self.shown(node_id))


@extend_schema(tags=[NODES], request=None, responses=NodeOut)
class NodeLost(NodeDetail):
    access = MANAGE
    http_method_names = ["post", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        """Declare lost a machine that does not answer: its work is fenced and queued again from its checkpoints.

        409 while the node and its work are heard from. What comes back with the machine is ended before it takes work.
        """
        lost.declare(self.actor, node_id=node_id)
        return Response(self.shown(node_id))


@extend_schema(tags=[NODES], request=None, responses=NodeOut)
class NodeSwitchOff(NodeDetail):
    """A simulated machine falls silent, or is heard again; 409 for a real one."""

    access = MANAGE
    on = False
    http_method_names = ["post", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        simulation.switch(self.actor, node_id=node_id, on=self.on)
        return Response(self.shown(node_id))


class NodeSwitchOn(NodeSwitchOff):
    on = True


@extend_schema(tags=[NODES], request=RemoveIn, responses={204: None})
class NodeRemove(ScopedView):
    access = MANAGE

    def post(self, request: Request, node_id: UUID) -> Response:
        """A closed node on which nothing runs, or a lost one."""
        asked = _checked(RemoveIn(data=request.data))
        removal.remove_node(self.actor, node_id=node_id, declare_lost=asked["declare_lost"])
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=[NODES], request=LabelsIn, responses=NodeOut)
class NodeLabels(NodeDetail):
    access = MANAGE
    http_method_names = ["put", "options"]

    def put(self, request: Request, node_id: UUID) -> Response:
        """Replace the labels."""
        services.set_labels(self.actor, node_id=node_id, labels=_checked(LabelsIn(data=request.data))["labels"])
        return Response(self.shown(node_id))


@extend_schema(tags=[NODES], request=TokenIn, responses={201: TokenOut})
class NodeTokens(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """A token with which machines join for an hour; it is told this once."""
        asked = _checked(TokenIn(data=request.data))
        token = make_token(self.actor, cluster_id=asked["cluster_id"], uses=asked["uses"])
        answer = Response(TokenOut({"token": token}).data, status=status.HTTP_201_CREATED)
        answer["Cache-Control"] = "no-store"
        return answer
