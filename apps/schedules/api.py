"""The API of schedules: the same services and permissions as the pages."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.schedules import selectors, services
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.serializers import NewScheduleSerializer, PlanSerializer, ScheduleSerializer, StartSerializer
from apps.schedules.tables import ScheduleFilter
from apps.workloads.launching.form import new_key

VIEW = in_organisation(Permission.TRAINING_VIEW)
USE = in_organisation(Permission.TRAINING_SUBMIT)


class ScheduleList(ScopedView, generics.ListAPIView[Schedule]):
    """Schedules: the actor's own, or all of the organisation's for who manages its runs; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = ScheduleSerializer
    filterset_class = ScheduleFilter
    pagination_class = CreatedCursor
    queryset = Schedule.objects.none()  # for the schema, which is drawn without an actor

    def get_queryset(self) -> QuerySet[Schedule]:
        return selectors.schedules(self.actor)

    @extend_schema(request=NewScheduleSerializer, responses={201: ScheduleSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Start a run again, or a pipeline, by time from now on."""
        asked = NewScheduleSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        target = "run" if "run" in asked.validated_data else "pipeline"
        made = services.create(self.actor, asked.validated_data[target], asked.plan(), target=target)
        return Response(ScheduleSerializer(made).data, status=status.HTTP_201_CREATED)


class ScheduleView(ScopedView):
    """Base of everything about one schedule, which must be visible to the actor."""

    def schedule(self, schedule_id: UUID) -> Schedule:
        return selectors.get(self.actor, schedule_id)


class ScheduleDetail(ScheduleView):
    access = {"get": VIEW, "put": USE, "delete": USE}

    @extend_schema(responses=ScheduleSerializer)
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """One schedule."""
        return Response(ScheduleSerializer(self.schedule(schedule_id)).data)

    @extend_schema(request=PlanSerializer, responses=ScheduleSerializer)
    def put(self, request: Request, schedule_id: UUID) -> Response:
        """Change it; one that is paused stays so, one that was over is active again if moments come."""
        asked = PlanSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        changed = services.change(self.actor, self.schedule(schedule_id), asked.plan())
        return Response(ScheduleSerializer(changed).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, schedule_id: UUID) -> Response:
        """Delete it with its history; the runs that it has started stay."""
        services.delete(self.actor, self.schedule(schedule_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SchedulePause(ScheduleView):
    access = USE

    @extend_schema(request=None, responses=ScheduleSerializer)
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Nothing starts until it is resumed; what runs goes on. 409 if it is not active."""
        services.pause(self.actor, self.schedule(schedule_id))
        return Response(ScheduleSerializer(self.schedule(schedule_id)).data)


class ScheduleResume(ScheduleView):
    access = USE

    @extend_schema(request=None, responses=ScheduleSerializer)
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """From its next moment on; what passed meanwhile is not made up for. 409 if it is not paused."""
        services.resume(self.actor, self.schedule(schedule_id))
        return Response(ScheduleSerializer(self.schedule(schedule_id)).data)


class ScheduleRun(ScheduleView):
    access = USE

    @extend_schema(request=None, responses={202: StartSerializer})
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Start it now, also while it is paused; the loop carries it out as the owner within seconds."""
        key = key_of(request._request) or new_key()
        start = services.run_now(self.actor, self.schedule(schedule_id), key)
        return Response(StartSerializer(start).data, status=status.HTTP_202_ACCEPTED)


class ScheduleStarts(ScheduleView, generics.ListAPIView[ScheduledStart]):
    """What it has started and skipped, and why; newest first."""

    access = VIEW
    serializer_class = StartSerializer
    pagination_class = CreatedCursor
    queryset = ScheduledStart.objects.none()

    def get_queryset(self) -> QuerySet[ScheduledStart]:
        return selectors.starts(self.schedule(self.kwargs["schedule_id"]))
