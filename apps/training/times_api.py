"""/api/v1/training/runs/<id>/longest/ and gpu-idle/: how long a run may run, and when its idle cards end it."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.training import selectors
from apps.training.api import SUBMIT, VIEW
from apps.workloads.gpu_idleness import set_gpu_idle
from apps.workloads.longest import set_longest
from apps.workloads.run_times import LEAST_IDLE_MINUTES, LEAST_S, MOST_IDLE_MINUTES, MOST_S


class LongestSerializer(serializers.Serializer[Any]):
    """Seconds of running in all, over every attempt; null: no limit. `deadline_at`: when that is over; null while it
    does not run."""

    longest_s = serializers.IntegerField(allow_null=True, min_value=LEAST_S, max_value=MOST_S)
    deadline_at = serializers.DateTimeField(read_only=True, allow_null=True)


class RunLongest(ScopedView):
    access = {"get": VIEW, "put": SUBMIT}

    @extend_schema(responses=LongestSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Its longest run time, and when that is over."""
        return Response(LongestSerializer(selectors.get(self.actor, run_id).workload).data)

    @extend_schema(request=LongestSerializer, responses=LongestSerializer)
    def put(self, request: Request, run_id: UUID) -> Response:
        """Set, extend or (null) remove it. 409 once it is ending; 400 for less than it has run and a minute."""
        run = selectors.get(self.actor, run_id)
        given = LongestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        set_longest(self.actor, run.workload, given.validated_data["longest_s"])
        return Response(LongestSerializer(run.workload).data)


class GpuIdleSerializer(serializers.Serializer[Any]):
    """It is saved and stopped once its cards have not been used for so long, counted from the change; null: never."""

    gpu_idle_minutes = serializers.IntegerField(
        allow_null=True, min_value=LEAST_IDLE_MINUTES, max_value=MOST_IDLE_MINUTES
    )


class RunGpuIdle(ScopedView):
    access = {"get": VIEW, "put": SUBMIT}

    @extend_schema(responses=GpuIdleSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """After how long without use of its cards it is stopped."""
        return Response(GpuIdleSerializer(selectors.get(self.actor, run_id).workload).data)

    @extend_schema(request=GpuIdleSerializer, responses=GpuIdleSerializer)
    def put(self, request: Request, run_id: UUID) -> Response:
        """Set, change or (null) remove it. 409 once it is ending; 400 for a run without a card."""
        run = selectors.get(self.actor, run_id)
        given = GpuIdleSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        set_gpu_idle(self.actor, run.workload, given.validated_data["gpu_idle_minutes"])
        return Response(GpuIdleSerializer(run.workload).data)
