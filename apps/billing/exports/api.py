"""/api/v1/exports/ and /api/v1/console/exports/: files that a worker makes."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.export_choices import ExportFormat, ExportKind, ExportStatus
from apps.billing.exports import selectors as reads
from apps.billing.exports import services
from apps.billing.exports.sending import export_response
from apps.billing.exports.wanted import ExportSpec
from apps.billing.exports.writers import MEDIA_TYPES
from apps.billing.models import Export
from apps.common.access import in_organisation, on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

OWN = in_organisation(Permission.BILLING_VIEW_OWN)
STAFF = on_platform(Permission.PLATFORM_OVERVIEW)
TAGS, STAFF_TAGS = ["money"], ["console: finance"]
FILE = {
    (200, media_type.partition(";")[0]): OpenApiResponse(OpenApiTypes.BINARY, description="The file.")
    for media_type in MEDIA_TYPES.values()
}


class ExportOut(serializers.Serializer[Export]):
    """`amount_fen` is the sum that the file's last row states; `error` a code where it failed."""

    id = serializers.UUIDField(read_only=True)
    kind = serializers.ChoiceField(choices=ExportKind.choices, read_only=True)
    format = serializers.ChoiceField(choices=ExportFormat.choices, read_only=True)
    filters = serializers.DictField(child=serializers.CharField(), read_only=True)
    status = serializers.ChoiceField(choices=ExportStatus.choices, read_only=True)
    done_rows = serializers.IntegerField(read_only=True)
    total_rows = serializers.IntegerField(allow_null=True, read_only=True)
    amount_fen = serializers.IntegerField(allow_null=True, read_only=True)
    size = serializers.IntegerField(read_only=True, help_text="Bytes.")
    sha256 = serializers.CharField(source="digest", read_only=True)
    error = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(allow_null=True, read_only=True)
    expires_at = serializers.DateTimeField(allow_null=True, read_only=True)


class ExportIn(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=ExportKind.choices)
    format = serializers.ChoiceField(choices=ExportFormat.choices, default=ExportFormat.CSV)
    since = serializers.DateField(required=False, help_text="First day, in the billing zone.")
    until = serializers.DateField(required=False, help_text="Last day.")
    q = serializers.CharField(required=False, allow_blank=True, max_length=80, default="")
    list = serializers.CharField(
        required=False, allow_blank=True, max_length=40, default="", help_text="Of kind `list`: the name of the list."
    )
    query = serializers.CharField(
        required=False, allow_blank=True, max_length=2000, default="", help_text="Its filters as in its page's address."
    )

    def wanted(self) -> ExportSpec:
        data = self.validated_data
        return ExportSpec(
            ExportKind(data["kind"]),
            ExportFormat(data["format"]),
            data.get("since"),
            data.get("until"),
            data["q"].strip(),
            data.get("organisation"),
            data["list"],
            data["query"],
        )


class StaffExportIn(ExportIn):
    organisation = serializers.UUIDField(required=False, help_text="Only this organisation's rows.")


@extend_schema(tags=TAGS)
class Exports(ScopedView, generics.ListAPIView[Export]):
    """One's own exports, newest first."""

    access = OWN
    queryset = Export.objects.none()
    serializer_class = ExportOut
    pagination_class = CreatedCursor
    given = ExportIn

    def get_queryset(self) -> QuerySet[Export]:
        return reads.exports(self.actor)

    @extend_schema(request=ExportIn, responses={202: ExportOut})
    def post(self, request: Request) -> Response:
        """Ask for a file. The same again, while it is under way, is the same export."""
        given = self.given(data=request.data)
        given.is_valid(raise_exception=True)
        made = services.request_export(self.actor, wanted=given.wanted())
        return Response(ExportOut(made).data, status=status.HTTP_202_ACCEPTED)


@extend_schema(tags=TAGS, responses=ExportOut)
class ExportDetail(ScopedView):
    access = OWN

    def get(self, request: Request, export_id: UUID) -> Response:
        return Response(ExportOut(reads.export(self.actor, export_id)).data)


@extend_schema(tags=TAGS, request=None, responses=ExportOut)
class ExportCancel(ScopedView):
    access = OWN

    def post(self, request: Request, export_id: UUID) -> Response:
        """End one that is under way. 409 where it has ended."""
        return Response(ExportOut(services.cancel(self.actor, export_id=export_id)).data)


@extend_schema(tags=TAGS, responses=FILE)
class ExportContent(ScopedView):
    access = OWN

    def get(self, request: Request, export_id: UUID) -> HttpResponseBase:
        """The file, while it is kept; 404 before and after."""
        return export_response(self.actor, reads.downloadable_export(self.actor, export_id))


@extend_schema(tags=STAFF_TAGS)
class StaffExports(Exports):
    """One's own exports in the console, newest first."""

    access = STAFF
    given = StaffExportIn

    @extend_schema(request=StaffExportIn, responses={202: ExportOut})
    def post(self, request: Request) -> Response:
        """Ask for a file over all organisations, or one of them."""
        return super().post(request)


@extend_schema(tags=STAFF_TAGS)
class StaffExportDetail(ExportDetail):
    access = STAFF


@extend_schema(tags=STAFF_TAGS)
class StaffExportCancel(ExportCancel):
    access = STAFF


@extend_schema(tags=STAFF_TAGS)
class StaffExportContent(ExportContent):
    access = STAFF
