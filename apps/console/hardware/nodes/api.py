"""/api/v1/console/nodes/: nodes, their load, and what operators do with them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.choices import DrainAction, NodeStatus
from apps.clusters.dataset_caches import cache_of
from apps.clusters.models import Node
from apps.clusters.node_storage import probe_of, storage_of
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.permissions import Permission as P
from apps.console.hardware.accelerators.fields import AcceleratorOut
from apps.console.hardware.nodes import selectors as reads
from apps.console.hardware.nodes.gang_network import GangNetworkOut, gang_network
from apps.console.hardware.nodes.listing import NodeFilter
from apps.console.hardware.nodes.quarantine import QuarantineOut, quarantine_note
from apps.console.hardware.nodes.rdma import RdmaOut, rdma_card
from apps.console.hardware.nodes.storage import DatasetCacheOut, NodeStorageOut, StorageProbeOut
from apps.console.kit.api import ByName, checked
from apps.workloads.driver_fields import IsolationReasonField
from apps.workloads.hardware import drains, lost, removal, simulation
from apps.workloads.nodes import make_token

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
LONGEST_HOURS = 168
NODES = "console: nodes"


class NodeOut(serializers.Serializer[Any]):
    """`status` is `stale` while the node has not been heard from, `lost` from then on that it was declared lost until
    it is back and nothing of its old work runs there, `quarantined` while the platform gives it no work. Amounts in
    milli-cores and MiB.
    """

    id = serializers.UUIDField(source="node.pk", read_only=True)
    name = serializers.CharField(source="node.name", read_only=True)
    zone = serializers.CharField(source="node.cluster.zone.name", read_only=True)
    cluster = serializers.CharField(source="node.cluster.name", read_only=True)
    status = serializers.ChoiceField(choices=NodeStatus.choices, read_only=True)
    simulated = serializers.BooleanField(source="node.cluster.zone.simulated", read_only=True)
    labels = serializers.DictField(source="node.labels", child=serializers.CharField(), read_only=True)
    drain_until = serializers.DateTimeField(source="node.drain_until", read_only=True, allow_null=True)
    drain_action = serializers.CharField(source="node.drain_action", read_only=True)
    driver = serializers.CharField(source="node.driver", read_only=True)
    arch = serializers.CharField(source="node.arch", read_only=True)
    isolation = serializers.CharField(source="node.isolation", read_only=True)
    isolation_reason = IsolationReasonField(source="node.isolation_reason", read_only=True)
    gang_network = serializers.SerializerMethodField()
    cpu_milli = serializers.IntegerField(source="node.allocatable_cpu_milli", read_only=True)
    cpu_held_milli = serializers.IntegerField(source="held.cpu_milli", read_only=True)
    memory_mib = serializers.IntegerField(source="node.allocatable_memory_mib", read_only=True)
    memory_held_mib = serializers.IntegerField(source="held.memory_mib", read_only=True)
    disk_mib = serializers.IntegerField(source="node.disk_mib", read_only=True)
    disk_free_mib = serializers.IntegerField(source="node.disk_free_mib", read_only=True)
    disk_files = serializers.IntegerField(
        source="node.disk_files", read_only=True, help_text="How many files the disk has room for (inodes); 0: unknown."
    )
    disk_files_free = serializers.IntegerField(source="node.disk_files_free", read_only=True)
    disk_low_since = serializers.DateTimeField(
        source="node.disk_low_since", read_only=True, allow_null=True, help_text="Since when it is nearly full."
    )
    storage = serializers.SerializerMethodField()
    storage_probe = serializers.SerializerMethodField()
    dataset_cache = serializers.SerializerMethodField()
    rdma = serializers.SerializerMethodField()
    faults_unread = serializers.CharField(
        source="node.faults_unread",
        read_only=True,
        help_text="Why faults of its cards (XIDs) cannot be seen: absent, denied, failed; empty: they can.",
    )
    runs = serializers.IntegerField(source="held.runs", read_only=True)
    accelerators = AcceleratorOut(source="node.accelerators", many=True, read_only=True)
    last_seen_at = serializers.DateTimeField(source="node.last_seen_at", read_only=True)
    lost_at = serializers.DateTimeField(source="node.lost_at", read_only=True, allow_null=True)
    lost_by = serializers.CharField(
        source="node.lost_by", read_only=True, help_text="Who declared it lost; empty: the platform, for its silence."
    )
    quarantine = serializers.SerializerMethodField()
    switched_off = serializers.BooleanField(source="node.switched_off", read_only=True, help_text="Simulated only.")

    @extend_schema_field(QuarantineOut(allow_null=True))
    def get_quarantine(self, row: Any) -> Any:
        note = quarantine_note(row.node)
        return None if note is None else QuarantineOut(note).data

    @extend_schema_field(NodeStorageOut(allow_null=True))
    def get_storage(self, row: Any) -> Any:
        return NodeStorageOut(storage_of(row.node)).data if row.node.storage else None

    @extend_schema_field(StorageProbeOut(allow_null=True))
    def get_storage_probe(self, row: Any) -> Any:
        probe = probe_of(row.node)
        return None if probe is None else StorageProbeOut(probe).data

    @extend_schema_field(DatasetCacheOut(allow_null=True))
    def get_dataset_cache(self, row: Any) -> Any:
        cache = cache_of(row.node)
        return None if cache is None else DatasetCacheOut(cache).data

    @extend_schema_field(RdmaOut(allow_null=True))
    def get_rdma(self, row: Any) -> Any:
        card = rdma_card(row.node)
        return None if card is None else RdmaOut(card).data

    @extend_schema_field(GangNetworkOut)
    def get_gang_network(self, row: Any) -> Any:
        return GangNetworkOut(gang_network(row.node)).data


class SampleOut(serializers.Serializer[Any]):
    at = serializers.DateTimeField(read_only=True)
    cpu_pct = serializers.FloatField(read_only=True)
    memory_used_mib = serializers.IntegerField(read_only=True)
    disk_used_pct = serializers.FloatField(read_only=True)
    gpu_pct = serializers.FloatField(read_only=True, allow_null=True)
    gpu_memory_pct = serializers.FloatField(read_only=True, allow_null=True)


class SpanIn(serializers.Serializer[Any]):
    hours = serializers.IntegerField(min_value=1, max_value=LONGEST_HOURS, default=1)


@extend_schema(tags=["console: nodes"])
class Nodes(ScopedView, generics.ListAPIView[Node]):
    access = VIEW
    queryset = Node.objects.none()
    serializer_class = NodeOut
    pagination_class = ByName
    filterset_class = NodeFilter

    def get_queryset(self) -> QuerySet[Node]:
        return reads.nodes(self.actor).prefetch_related("accelerators")

    def paginate_queryset(self, queryset: Any) -> Any:
        return [reads.row_from(node) for node in super().paginate_queryset(queryset) or ()]


@extend_schema(tags=["console: nodes"], responses=NodeOut)
class NodeDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, node_id: UUID) -> Response:
        return Response(self.shown(node_id))

    def shown(self, node_id: UUID) -> Any:
        node = clusters.node(self.actor, node_id)
        held = reads.holdings_by_node().get(node.pk, reads.NodeHoldings())
        return NodeOut(reads.row_of(node, held, db_now())).data


@extend_schema(tags=["console: nodes"], parameters=[SpanIn], responses=SampleOut(many=True))
class NodeSamples(ScopedView):
    access = VIEW

    def get(self, request: Request, node_id: UUID) -> Response:
        """Measurements of the last `hours`, oldest first."""
        given = SpanIn(data=request.query_params)
        given.is_valid(raise_exception=True)
        span = timedelta(hours=given.validated_data["hours"])
        return Response(SampleOut(clusters.samples(self.actor, node_id, span=span), many=True).data)


@extend_schema(tags=["console: nodes"], request=None, responses=NodeOut)
class NodeCordon(NodeDetail):
    """Closes or opens the node; what runs there goes on."""

    access = MANAGE
    cordoned = True
    http_method_names = ["post", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        services.cordon(self.actor, node_id=node_id, cordoned=self.cordoned)
        return Response(self.shown(node_id))


class NodeUncordon(NodeCordon):
    cordoned = False


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


@extend_schema(tags=[NODES], request=DrainIn, responses=NodeOut)
class NodeDrain(NodeDetail):
    access = MANAGE
    http_method_names = ["post", "delete", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        """Begin to empty the node, or change the deadline."""
        asked = checked(DrainIn(data=request.data))
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
        asked = checked(RemoveIn(data=request.data))
        removal.remove_node(self.actor, node_id=node_id, declare_lost=asked["declare_lost"])
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=[NODES], request=LabelsIn, responses=NodeOut)
class NodeLabels(NodeDetail):
    access = MANAGE
    http_method_names = ["put", "options"]

    def put(self, request: Request, node_id: UUID) -> Response:
        """Replace the labels."""
        services.set_labels(self.actor, node_id=node_id, labels=checked(LabelsIn(data=request.data))["labels"])
        return Response(self.shown(node_id))


@extend_schema(tags=[NODES], request=TokenIn, responses={201: TokenOut})
class NodeTokens(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """A token with which machines join for an hour; it is told this once."""
        asked = checked(TokenIn(data=request.data))
        token = make_token(self.actor, cluster_id=asked["cluster_id"], uses=asked["uses"])
        answer = Response(TokenOut({"token": token}).data, status=status.HTTP_201_CREATED)
        answer["Cache-Control"] = "no-store"
        return answer
