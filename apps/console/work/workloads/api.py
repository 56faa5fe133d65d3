"""/api/v1/console/workloads/: what runs in every organisation."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByKey, Named, Person
from apps.console.work.workloads import selectors as reads
from apps.console.work.workloads.listing import WorkloadFilter
from apps.workloads import kinds, services
from apps.workloads import selectors as kernel
from apps.workloads.choices import Fault, Status
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch, LogView
from apps.workloads.models import Event, Workload

VIEW = on_platform(P.PLATFORM_WORKLOADS_VIEW)
MANAGE = on_platform(P.PLATFORM_WORKLOADS_MANAGE)


class WorkloadOut(serializers.Serializer[Workload]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    kind = serializers.ChoiceField(choices=kinds.choices(), read_only=True)
    organisation = Named(read_only=True)
    owner = Person(read_only=True)
    status = serializers.ChoiceField(choices=Status.choices, read_only=True)
    status_since = serializers.DateTimeField(read_only=True)
    reason = serializers.CharField(read_only=True)
    fault = serializers.ChoiceField(choices=Fault.choices, read_only=True, allow_blank=True)
    priority = serializers.IntegerField(read_only=True)
    package_id = serializers.IntegerField(read_only=True)
    price_version_id = serializers.IntegerField(read_only=True)
    rate_fen_per_hour = serializers.DecimalField(
        source="paid_rate", max_digits=30, decimal_places=10, read_only=True, help_text="As its organisation pays it."
    )
    node = serializers.CharField(source="node_name", read_only=True, allow_null=True)
    attempt = serializers.IntegerField(source="attempt_number", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    started_at = serializers.DateTimeField(read_only=True, allow_null=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)


class EventOut(serializers.Serializer[Event]):
    id = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    kind = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(choices=Status.choices, read_only=True)
    reason = serializers.CharField(read_only=True)
    attempt = serializers.IntegerField(source="attempt_number", read_only=True)
    by = serializers.CharField(source="actor_label", read_only=True)
    details = serializers.DictField(source="data", read_only=True)


@extend_schema(tags=["console: workloads"])
class Workloads(ScopedView, generics.ListAPIView[Workload]):
    access = VIEW
    queryset = Workload.objects.none()
    serializer_class = WorkloadOut
    filterset_class = WorkloadFilter

    def get_queryset(self) -> QuerySet[Workload]:
        return reads.workloads(self.actor)


@extend_schema(tags=["console: workloads"], responses=WorkloadOut)
class WorkloadDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, workload_id: UUID) -> Response:
        return Response(WorkloadOut(reads.get(self.actor, workload_id)).data)


@extend_schema(tags=["console: workloads"])
class WorkloadEvents(ScopedView, generics.ListAPIView[Event]):
    access = VIEW
    queryset = Event.objects.none()
    serializer_class = EventOut
    pagination_class = ByKey
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Event]:
        return kernel.events(kernel.get(self.actor, self.kwargs["workload_id"]))


class WorkloadLogView(LogView):
    access = VIEW

    def workload(self) -> Workload:
        return kernel.get(self.actor, self.kwargs["workload_id"])


@extend_schema(tags=["console: workloads"])
class WorkloadLog(WorkloadLogView, LogBytes):
    """The log as bytes."""


@extend_schema(tags=["console: workloads"])
class WorkloadLogLines(WorkloadLogView, LogLines):
    """The log by lines."""


@extend_schema(tags=["console: workloads"])
class WorkloadLogSearch(WorkloadLogView, LogSearch):
    """A text in the log."""


@extend_schema(tags=["console: workloads"], request=None, responses=WorkloadOut)
class WorkloadStop(ScopedView):
    access = MANAGE

    def post(self, request: Request, workload_id: UUID) -> Response:
        """Ask it to end: at once where it waits, with a grace period where it runs."""
        services.stop(self.actor, kernel.get(self.actor, workload_id))
        return Response(WorkloadOut(reads.get(self.actor, workload_id)).data)
