"""/api/v1/console/overview/: how the platform stands."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.finance.selectors import burn
from apps.console.overview import selectors as overview
from apps.console.queue.serializers import PassOut


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
            "burn_fen_per_hour": burn(actor)[0],
            "nodes": overview.nodes(actor),
            "capacity": overview.capacity(actor),
            "last_pass": overview.last_pass(actor),
        }
        return Response(OverviewOut(found).data)
