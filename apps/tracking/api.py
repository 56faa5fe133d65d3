"""`/api/v1/tracking/runs/<id>/…`: what a run says of itself. The id is that of its workload, or of a nested run.

A person reads with their own rights. The program of a run reads and writes its own, with the token that it is given.
"""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.tenants.bearer import BearerToken
from apps.tracking import notes, raw, selectors, services
from apps.tracking import serializers as s
from apps.tracking.bearer import RunToken
from apps.tracking.models import Parameter, TrackingTag
from apps.tracking.points import Point
from apps.tracking.reach import Reach
from apps.tracking.run_tokens import RunGrant
from apps.tracking.selectors import Axis

MOST_POINTS = 10_000
NAME = OpenApiParameter("name", str, required=True, description="The name of a metric.")
NAMES = OpenApiParameter("name", str, required=True, many=True, description="Names of metrics; up to 50.")


class TrackedRunView(ScopedView):
    """Base of all that is about one run."""

    access = in_organisation(Permission.ORGANISATION_VIEW)
    authentication_classes = (RunToken, BearerToken, SessionAuthentication)

    def reach(self) -> Reach:
        return Reach(self.actor, self.request.auth if isinstance(self.request.auth, RunGrant) else None)

    def readable(self) -> UUID:
        return self.reach().readable(self.kwargs["run_id"])


class Metrics(TrackedRunView):
    @extend_schema(responses=s.SeriesInfoSerializer(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """The metrics of a run: how many points each has, its last value, its least and greatest."""
        return Response(_many(s.SeriesInfoSerializer, selectors.infos(self.readable())))


class MetricPoints(TrackedRunView):
    @extend_schema(
        parameters=[
            NAME,
            OpenApiParameter("after", int, description="How many points to leave out: `next` of the page before."),
            OpenApiParameter("most", int, description="How many at once; 1,000 by default, up to 10,000."),
        ],
        responses=s.PointPageSerializer,
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """The points of a metric as they arrived, page by page."""
        run = self.readable()
        after, most = _whole(request, "after", 0), min(_whole(request, "most", 1_000), MOST_POINTS)
        page = raw.page(run, request.query_params.get("name", ""), after=after, most=max(1, most))
        end = after + len(page.points)
        found = {"count": page.count, "next": end if end < page.count else None, "points": s.rows_of(page.points)}
        return Response(s.PointPageSerializer(found).data)


class MetricChart(TrackedRunView):
    @extend_schema(
        parameters=[
            NAMES,
            OpenApiParameter("axis", str, enum=[each.value for each in Axis], description="`step` by default."),
            OpenApiParameter("start", float, description="A step, or Unix seconds."),
            OpenApiParameter("end", float, description="A step, or Unix seconds."),
            OpenApiParameter("points", int, description="How many buckets at most; 1,000 by default, up to 5,000."),
        ],
        responses=s.CurveSerializer(many=True),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Metrics for a chart: per bucket of the axis the least, the greatest and the last value."""
        curves = selectors.curves(
            [self.readable()],
            request.query_params.getlist("name")[:50],
            axis=_axis(request),
            start=_number(request, "start"),
            end=_number(request, "end"),
            points=_whole(request, "points", 1_000),
        )
        return Response(_many(s.CurveSerializer, curves))


class Notes(TrackedRunView):
    @extend_schema(responses=s.NotesSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """The parameters and tags of a run, as its program set them."""
        run = self.readable()
        parameters = selectors.texts(Parameter.objects.filter(run_id=run)).get(run, {})
        tags = selectors.texts(TrackingTag.objects.filter(run_id=run)).get(run, {})
        return Response(s.NotesSerializer({"parameters": parameters, "tags": tags}).data)


class Log(TrackedRunView):
    @extend_schema(request=s.LogSerializer, responses={201: s.LoggedSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Add points, parameters and tags: all of them or nothing. For its program and who may change it."""
        run = self.reach().writable(run_id)
        asked = s.LogSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        parcel = services.Parcel(data["sender"], data["number"]) if data["sender"] else None
        with transaction.atomic():
            recorded = services.add_points(run_id=run, points=[Point(**each) for each in data["points"]], parcel=parcel)
            if data["parameters"] and not recorded.repeated:
                notes.set_parameters(run_id=run, values=data["parameters"])
            if data["tags"] and not recorded.repeated:
                notes.set_tags(run_id=run, values=data["tags"])
        return Response(s.LoggedSerializer(recorded).data, status=201)


def _many(serializer: Any, rows: Any) -> Any:
    return serializer(rows, many=True).data


def _whole(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise Invalid.field(name, _("A whole number that is not negative is needed."))
    return int(text)


def _number(request: Request, name: str) -> float | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e15:  # also for NaN
        raise Invalid.field(name, _("A number is needed."))
    return value


def _axis(request: Request) -> Axis:
    name: Any = request.query_params.get("axis", Axis.STEP)
    if name not in list(Axis):
        raise Invalid.field("axis", _("One of: %(names)s.") % {"names": ", ".join(Axis)})
    return Axis(name)
