"""/api/v1/console/what-if/: scenarios and traces. The same services, rights and refusals as the pages."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.whatif import selectors, services
from apps.whatif.choices import Hardware, Source
from apps.whatif.editing import read_all
from apps.whatif.models import Scenario, Trace
from apps.whatif.replaying.limits import LARGEST_FILE
from apps.whatif.scenario_scope import ScenarioScope
from apps.whatif.serializers import (
    ScenarioIn,
    ScenarioOut,
    ScenarioRow,
    SizeOut,
    SpanIn,
    TraceIn,
    TraceOut,
)
from apps.whatif.sizing import size_of

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
READ_AND_RUN = {"get": VIEW, "post": MANAGE, "delete": MANAGE}


class WhatIfView(ScopedView):
    """What the views of one scenario share."""

    def shown(self, scenario: Scenario) -> Any:
        return ScenarioOut(scenario, context={"actor": self.actor}).data

    def ground(self, data: dict[str, Any]) -> ScenarioScope:
        source = Source(data["source"])
        wanted = data["trace"] if source is Source.TRACE else None
        trace = None if wanted is None else selectors.trace(self.actor, wanted)
        return ScenarioScope(self.actor, source, Hardware(data["hardware"]), data["plain_nodes"], trace)


@extend_schema(tags=["console: what-if"])
class Scenarios(WhatIfView, generics.ListAPIView[Scenario]):
    access = READ_AND_RUN
    queryset = Scenario.objects.none()
    serializer_class = ScenarioRow
    pagination_class = CreatedCursor
    filter_backends: tuple[type, ...] = ()

    def get_queryset(self) -> QuerySet[Scenario]:
        return selectors.listed(self.actor)

    @extend_schema(request=ScenarioIn, responses={201: ScenarioOut})
    def post(self, request: Request) -> Response:
        """Queue a scenario; its progress and figures are read from its own address."""
        given = ScenarioIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        ground = self.ground(data)
        changes = read_all(data["changes"], ground)
        wanted = services.ScenarioSpec(data["name"], ground, data["start"], data["end"], changes)
        return Response(self.shown(services.create(self.actor, wanted)), status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: what-if"])
class ScenarioSize(WhatIfView):
    access = MANAGE

    @extend_schema(request=SpanIn, responses=SizeOut)
    def post(self, request: Request) -> Response:
        """How much a span would replay, and about how long that takes; nothing is started."""
        given = SpanIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        return Response(SizeOut(size_of(self.ground(data), data["start"], data["end"])).data)


@extend_schema(tags=["console: what-if"])
class ScenarioDetail(WhatIfView):
    access = READ_AND_RUN

    @extend_schema(responses=ScenarioOut)
    def get(self, request: Request, scenario_id: UUID) -> Response:
        return Response(self.shown(selectors.scenario(self.actor, scenario_id)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, scenario_id: UUID) -> Response:
        services.delete(self.actor, scenario_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=["console: what-if"])
class ScenarioCancel(WhatIfView):
    access = MANAGE

    @extend_schema(request=None, responses=ScenarioOut)
    def post(self, request: Request, scenario_id: UUID) -> Response:
        return Response(self.shown(services.cancel(self.actor, scenario_id)))


@extend_schema(tags=["console: what-if"])
class ScenarioTaskTable(WhatIfView):
    access = VIEW

    @extend_schema(responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR)})
    def get(self, request: Request, scenario_id: UUID) -> HttpResponse:
        """Every task on both sides."""
        content = selectors.tasks_csv(self.actor, scenario_id)
        return HttpResponse(content, content_type="text/csv; charset=utf-8")


@extend_schema(tags=["console: what-if"])
class Traces(WhatIfView, generics.ListAPIView[Trace]):
    access = READ_AND_RUN
    queryset = Trace.objects.none()
    serializer_class = TraceOut
    pagination_class = CreatedCursor
    filter_backends: tuple[type, ...] = ()
    parser_classes = (MultiPartParser,)

    def get_queryset(self) -> QuerySet[Trace]:
        return selectors.trace_list(self.actor)

    @extend_schema(request=TraceIn, responses={201: TraceOut})
    def post(self, request: Request) -> Response:
        """Upload a CSV of arrivals. Refused with the line at fault; nothing is kept then."""
        given = TraceIn(data=request.data)
        given.is_valid(raise_exception=True)
        file = given.validated_data["file"]
        name = given.validated_data["name"] or file.name
        trace = services.add_trace(self.actor, name=name, content=file.read(LARGEST_FILE + 1))
        return Response(TraceOut(trace).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: what-if"])
class TraceDetail(WhatIfView):
    access = READ_AND_RUN

    @extend_schema(responses=TraceOut)
    def get(self, request: Request, trace_id: UUID) -> Response:
        return Response(TraceOut(selectors.trace(self.actor, trace_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, trace_id: UUID) -> Response:
        services.delete_trace(self.actor, trace_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
