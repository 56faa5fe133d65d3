"""Settings of image scans: the scanner, the floor under all policies, the operator's exceptions; page and endpoints."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform, requires
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import MANAGE, TAGS, VIEW, SettingsView
from apps.console.settings.editing import edit, may_manage
from apps.console.settings.forms import SettingsForm
from apps.registry.models import ImageScan, ScanException, Scanner
from apps.registry.scanning import forms as fields
from apps.registry.scanning import pages, selectors, services
from apps.registry.scanning.choices import THRESHOLDS, PolicyAction, ScannerProblem, Severity
from apps.registry.scanning.listing import ExceptionFilter
from apps.registry.scanning.serializers import ExceptionSerializer, PolicySerializer, ScannerOut
from apps.registry.scanning.settings import MOST_DAYS, ScanSettings
from apps.tenants import settings

PAGE = "console:settings_image_scans"
UNSEEN_AFTER = timedelta(hours=3)
CHANGE = on_platform(P.PLATFORM_SETTINGS_MANAGE)
COMMANDS = {
    ScannerProblem.NO_SCANNER: "go install github.com/anchore/grype/cmd/grype@v0.121.3",
    ScannerProblem.BROKEN: "grype version",
    ScannerProblem.NO_DATABASE: "python manage.py scanner_database import vulnerability-db.tar.zst",
}
"""What mends each, typed where the worker runs."""


class ScansForm(SettingsForm):
    group = ScanSettings

    action = fields.action_field()
    severity = fields.severity_field()
    only_fixable = fields.fixable_field()
    block_unscanned = fields.unscanned_field()
    mirror = forms.CharField(
        label=_("Mirror of the database"),
        required=False,
        max_length=500,
        help_text=_("As in https://mirror.example.edu/grype/databases/v6/latest.json. Empty: it is brought by hand."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    stale_days = forms.IntegerField(
        label=_("The database is old after"),
        min_value=1,
        max_value=MOST_DAYS,
        help_text=_("Days; then every result says so."),
    )

    def stored(self, name: str) -> Any:
        kinds: dict[str, Any] = {"action": PolicyAction, "severity": Severity}
        value = super().stored(name)
        return kinds[name](value) if name in kinds else value


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def image_scans(request: StaffRequest) -> HttpResponse:
    more = pages.exceptions_context(
        request, selectors.platform_exceptions(request.actor), may_manage(request), "console:image_exception_end"
    )
    return edit(
        request, "settings_image_scans", ScansForm, template="console/settings/image_scans.html", **_scanner(), **more
    )


def _scanner() -> dict[str, Any]:
    """The scanner as its worker last saw it; `command` mends what is missing."""
    row, now = Scanner.objects.filter(key="grype").first(), db_now()
    problem = ScannerProblem(row.problem if row else ScannerProblem.NO_SCANNER)
    built_at = row.built_at if row else None
    stale = built_at is not None and now - built_at > settings.get(ScanSettings).stale_after
    return {
        "scanner": row,
        "problem": problem if problem else None,
        "command": COMMANDS.get(problem, ""),
        "stale": stale,
        "age_days": (now - built_at).days if built_at else None,
        "unseen": row is None or now - row.seen_at > UNSEEN_AFTER,
        "waiting": ImageScan.objects.filter(wanted_at__isnull=False).count(),
        "scanned": ImageScan.objects.filter(scanned_at__isnull=False).count(),
        "failed": ImageScan.objects.exclude(problem="").count(),
    }


@requires(CHANGE)
@require_http_methods(["GET", "POST"])
def exception_new(request: StaffRequest) -> HttpResponse:
    return pages.ask_exception(request, "console:image_exception_new", PAGE, everybody=True)


@requires(CHANGE)
@require_http_methods(["GET", "POST"])
def exception_end(request: StaffRequest, exception_id: UUID) -> HttpResponse:
    rows = selectors.platform_exceptions(request.actor)
    return pages.ask_end(request, rows, exception_id, "console:image_exception_end", PAGE, everybody=True)


class ImageScansOut(PolicySerializer):
    """The floor under all organisations' policies, and where the scanner's database comes from."""

    severity = serializers.ChoiceField(choices=[each.value for each in THRESHOLDS])
    mirror = serializers.CharField(max_length=500, allow_blank=True, help_text="Empty: brought by hand.")
    stale_days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """As the group keeps them."""
        kinds: dict[str, Any] = {"action": PolicyAction, "severity": Severity}
        return {name: kinds[name](value) if name in kinds else value for name, value in attrs.items()}


@extend_schema(tags=TAGS, request=ImageScansOut, responses=ImageScansOut)
class ImageScans(SettingsView):
    group, serializer = ScanSettings, ImageScansOut


@extend_schema(tags=TAGS)
class ImageScanner(ScopedView):
    access = VIEW

    @extend_schema(responses=ScannerOut)
    def get(self, request: Request) -> Response:
        """The scanner and its database, as the platform's worker last saw them."""
        row = Scanner.objects.filter(key="grype").first()
        return Response(ScannerOut(row or Scanner(problem=ScannerProblem.NO_SCANNER)).data)


@extend_schema(tags=TAGS)
class ImageExceptions(ScopedView, generics.ListAPIView[ScanException]):
    """Findings that all policies overlook, the newest first."""

    access = {"get": VIEW, "post": MANAGE}
    serializer_class = ExceptionSerializer
    pagination_class = CreatedCursor
    filterset_class = ExceptionFilter
    queryset = ScanException.objects.none()

    def get_queryset(self) -> QuerySet[ScanException]:
        return selectors.platform_exceptions(self.actor)

    @extend_schema(request=ExceptionSerializer, responses={201: ExceptionSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        asked = ExceptionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = services.add_exception(self.actor, **asked.validated_data, everybody=True)
        return Response(ExceptionSerializer(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS)
class ImageException(ScopedView):
    access = MANAGE

    @extend_schema(responses={204: None})
    def delete(self, request: Request, exception_id: UUID) -> Response:
        """End it: from now on policies act on the finding again."""
        services.end_exception(self.actor, exception_id, everybody=True)
        return Response(status=status.HTTP_204_NO_CONTENT)
