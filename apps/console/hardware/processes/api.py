"""/api/v1/console/processes/: the platform's own processes."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.models import ProcessReplacement
from apps.common.permissions import Permission as P
from apps.console.hardware.processes import selectors as reads
from apps.console.kit.api import NewestFirst

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
TAGS = ["console: processes"]


class ProcessOut(serializers.Serializer[Any]):
    """`beat_at` is when it last proved that it does its work; null for one that is needed and never did."""

    kind = serializers.CharField(read_only=True, help_text="web, gateway, worker, scheduler, beat, ssh ...")
    host = serializers.CharField(
        source="instance", read_only=True, help_text="Which of several: its host or container."
    )
    pid = serializers.IntegerField(read_only=True, allow_null=True)
    started_at = serializers.DateTimeField(read_only=True, allow_null=True)
    beat_at = serializers.DateTimeField(read_only=True, allow_null=True)
    silent = serializers.BooleanField(read_only=True, help_text="It lives and does nothing, or is not there.")


class ReplacementOut(serializers.Serializer[ProcessReplacement]):
    kind = serializers.CharField(read_only=True)
    host = serializers.CharField(source="instance", read_only=True)
    silent_s = serializers.FloatField(read_only=True, help_text="Seconds for which it had done nothing.")
    at = serializers.DateTimeField(read_only=True)


@extend_schema(tags=TAGS, responses=ProcessOut(many=True))
class Processes(ScopedView):
    access = VIEW

    def get(self, request: Request) -> Response:
        """Each process of the platform and when it last did something."""
        return Response(ProcessOut(reads.processes(self.actor), many=True).data)


@extend_schema(tags=TAGS)
class Replacements(ScopedView, generics.ListAPIView[ProcessReplacement]):
    """What lived, did nothing and was replaced in the last month, newest first."""

    access = VIEW
    queryset = ProcessReplacement.objects.none()
    serializer_class = ReplacementOut
    pagination_class = NewestFirst
    filter_backends = ()

    def get_queryset(self) -> QuerySet[ProcessReplacement]:
        return reads.replacements(self.actor)
