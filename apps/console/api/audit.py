"""/api/v1/console/audit/ and /overview/: who changed what; how the platform stands."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.audit.models import Entry
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.api.shared import NewestFirst
from apps.console.filters.audit import AuditFilter
from apps.console.selectors import audit as reads
from apps.console.selectors import overview


class EntryOut(serializers.Serializer[Entry]):
    id = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    organisation_id = serializers.UUIDField(read_only=True, allow_null=True)
    actor_id = serializers.IntegerField(read_only=True, allow_null=True)
    actor = serializers.CharField(source="actor_label", read_only=True)
    channel = serializers.CharField(read_only=True)
    address = serializers.CharField(read_only=True, allow_null=True)
    action = serializers.CharField(read_only=True)
    target_type = serializers.CharField(read_only=True)
    target_id = serializers.CharField(read_only=True)
    target = serializers.CharField(source="target_label", read_only=True)
    before = serializers.DictField(read_only=True)
    after = serializers.DictField(read_only=True)


@extend_schema(tags=["console: audit"])
class Entries(ScopedView, generics.ListAPIView[Entry]):
    access = on_platform(P.PLATFORM_AUDIT_VIEW)
    queryset = Entry.objects.none()
    serializer_class = EntryOut
    pagination_class = NewestFirst
    filterset_class = AuditFilter

    def get_queryset(self) -> QuerySet[Entry]:
        return reads.entries(self.actor)


class WorkOut(serializers.Serializer[overview.LivingWork]):
    running = serializers.IntegerField(read_only=True)
    starting = serializers.IntegerField(read_only=True)
    queued = serializers.IntegerField(read_only=True)
    stopping = serializers.IntegerField(read_only=True)


class CapacityOut(serializers.Serializer[overview.Capacity]):
    """Milli-cores, MiB and cards: what may be given out, and what is held."""

    cpu_milli = serializers.IntegerField(read_only=True)
    cpu_held = serializers.IntegerField(read_only=True)
    memory_mib = serializers.IntegerField(read_only=True)
    memory_held = serializers.IntegerField(read_only=True)
    cards = serializers.IntegerField(read_only=True)
    cards_held = serializers.IntegerField(read_only=True)
    cards_unwell = serializers.IntegerField(read_only=True)


class NodeCountsOut(serializers.Serializer[Any]):
    total = serializers.IntegerField(read_only=True)
    ready = serializers.IntegerField(read_only=True)
    cordoned = serializers.IntegerField(read_only=True)
    silent = serializers.IntegerField(read_only=True)


class PassOut(serializers.Serializer[Any]):
    """The last scheduling pass."""

    number = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    milliseconds = serializers.IntegerField(read_only=True)
    waiting = serializers.IntegerField(read_only=True)


class OverviewOut(serializers.Serializer[Any]):
    work = WorkOut(read_only=True)
    burn_fen_per_hour = serializers.DecimalField(max_digits=30, decimal_places=10, read_only=True)
    nodes = NodeCountsOut(read_only=True)
    capacity = CapacityOut(read_only=True)
    last_pass = PassOut(read_only=True, allow_null=True)


@extend_schema(tags=["console: overview"], responses=OverviewOut)
class Overview(ScopedView):
    access = on_platform(P.PLATFORM_OVERVIEW)

    def get(self, request: Request) -> Response:
        """What runs, what it burns, what is given out of how much."""
        actor = self.actor
        found = {
            "work": overview.living_work(actor),
            "burn_fen_per_hour": overview.burn(actor)[0],
            "nodes": overview.nodes(actor),
            "capacity": overview.capacity(actor),
            "last_pass": overview.last_pass(actor),
        }
        return Response(OverviewOut(found).data)
