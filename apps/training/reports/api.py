"""/api/v1/training/reports/: reports, one's own and those of the organisation."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.training.api import SUBMIT, VIEW
from apps.training.models import Report
from apps.training.reports import selectors, services


class ReportSerializer(serializers.ModelSerializer[Report]):
    """`text`: Markdown with fenced blocks `chart` and `table`; `runs`: of which."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    runs = serializers.ListField(child=serializers.UUIDField(), read_only=True)

    class Meta:
        model = Report
        fields = ("id", "name", "text", "runs", "shared", "owner", "created_at", "changed_at")
        read_only_fields = fields


class NewReportSerializer(serializers.Serializer[Report]):
    name = serializers.CharField(max_length=services.LONGEST_NAME)
    text = serializers.CharField(max_length=services.LONGEST_TEXT, trim_whitespace=False)
    runs = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=50)
    shared = serializers.BooleanField(default=False)


class ReportChangeSerializer(serializers.Serializer[Report]):
    """What is left out stays."""

    name = serializers.CharField(max_length=services.LONGEST_NAME, required=False)
    text = serializers.CharField(max_length=services.LONGEST_TEXT, trim_whitespace=False, required=False)
    runs = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=50, required=False)
    shared = serializers.BooleanField(required=False)


@extend_schema(tags=["training"])
class Reports(ScopedView, generics.ListAPIView[Report]):
    """The newest first."""

    access = {"get": VIEW, "post": SUBMIT}
    serializer_class = ReportSerializer
    pagination_class: type[CreatedCursor] = CreatedCursor
    queryset = Report.objects.none()  # for the schema, which is drawn without an actor

    def get_queryset(self) -> QuerySet[Report]:
        return selectors.reports(self.actor)

    @extend_schema(request=NewReportSerializer, responses={201: ReportSerializer})
    def post(self, request: Request) -> Response:
        asked = NewReportSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said: dict[str, Any] = asked.validated_data
        row = services.create(self.actor, run_ids=said.pop("runs"), **said)
        return Response(ReportSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["training"])
class ReportDetail(ScopedView):
    access = {"get": VIEW, "patch": SUBMIT, "delete": SUBMIT}

    @extend_schema(responses=ReportSerializer)
    def get(self, request: Request, report_id: UUID) -> Response:
        return Response(ReportSerializer(selectors.report(self.actor, report_id)).data)

    @extend_schema(request=ReportChangeSerializer, responses=ReportSerializer)
    def patch(self, request: Request, report_id: UUID) -> Response:
        """Its owner may, and of a shared one who manages the organisation's runs."""
        asked = ReportChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said: dict[str, Any] = asked.validated_data
        row = services.change(self.actor, report_id, run_ids=said.pop("runs", None), **said)
        return Response(ReportSerializer(row).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, report_id: UUID) -> Response:
        services.delete(self.actor, report_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
