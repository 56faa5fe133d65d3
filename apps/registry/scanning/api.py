"""/api/v1/images/…/scan/, …/findings/ and /api/v1/images/policy/: what scans found, and what starts."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.registry import selectors as images
from apps.registry.scanning import selectors, services
from apps.registry.scanning import serializers as s
from apps.registry.scanning.listing import ExceptionFilter, FindingFilter
from apps.registry.scanning.models import ScanException
from apps.registry.scanning.pages import scanned
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.settings import ScanSettings
from apps.tenants import settings as platform_settings

USE, MANAGE = in_organisation(P.IMAGES_USE), in_organisation(P.IMAGES_MANAGE)
TAGS = ["images"]


@extend_schema(tags=TAGS)
class ImageScanView(ScopedView):
    access = USE

    @extend_schema(responses=s.KnownOut)
    def get(self, request: Request, image_id: UUID) -> Response:
        """Of a container image; a runtime has no scan."""
        return Response(self._known(image_id))

    @extend_schema(request=None, responses={202: s.KnownOut})
    def post(self, request: Request, image_id: UUID) -> Response:
        """Have it scanned, again where it was."""
        services.ask_scan(self.actor, image_id)
        return Response(self._known(image_id), status=status.HTTP_202_ACCEPTED)

    def _known(self, image_id: UUID) -> Any:
        image = images.get(self.actor, image_id)
        if not image.reference:
            raise NotFound
        known, _rows = scanned(self.actor, image)
        return s.KnownOut(known).data


@extend_schema(tags=TAGS)
class Findings(ScopedView):
    access = USE

    @extend_schema(parameters=[s.FindingsQuery], responses=s.FindingsOut)
    def get(self, request: Request, image_id: UUID) -> Response:
        """The worst first."""
        image = images.get(self.actor, image_id)
        if not image.reference:
            raise NotFound
        asked = s.FindingsQuery(data=request.query_params)
        asked.is_valid(raise_exception=True)
        _known, rows = scanned(self.actor, image)
        found = FindingFilter(asked.validated_data).filtered(rows)
        first = asked.validated_data["offset"]
        shown = found[first : first + asked.validated_data["limit"]]
        return Response(s.FindingsOut({"count": len(found), "results": shown}).data)


@extend_schema(tags=TAGS)
class Policy(ScopedView):
    access = {"get": USE, "put": MANAGE}

    @extend_schema(responses=s.PoliciesOut)
    def get(self, request: Request) -> Response:
        return Response(self._shown())

    @extend_schema(request=s.PolicySerializer, responses=s.PoliciesOut)
    def put(self, request: Request) -> Response:
        """For later starts; what runs goes on."""
        asked = s.PolicySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        services.set_policy(self.actor, Rule(**asked.validated_data))
        return Response(self._shown())

    def _shown(self) -> Any:
        platform = asdict(platform_settings.get(ScanSettings).rule)
        return s.PoliciesOut({**asdict(selectors.rule_of(self.actor)), "platform": platform}).data


@extend_schema(tags=TAGS)
class Exceptions(ScopedView, generics.ListAPIView[ScanException]):
    """Findings that the organisation's policy overlooks, the newest first."""

    access = {"get": USE, "post": MANAGE}
    serializer_class = s.ExceptionSerializer
    pagination_class = CreatedCursor
    filterset_class = ExceptionFilter
    queryset = ScanException.objects.none()

    def get_queryset(self) -> QuerySet[ScanException]:
        return selectors.exceptions(self.actor)

    @extend_schema(request=s.ExceptionSerializer, responses={201: s.ExceptionSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        asked = s.ExceptionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = services.add_exception(self.actor, **asked.validated_data)
        return Response(s.ExceptionSerializer(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS)
class ImageException(ScopedView):
    access = MANAGE

    @extend_schema(responses={204: None})
    def delete(self, request: Request, exception_id: UUID) -> Response:
        """End it: from now on the policy acts on the finding again."""
        services.end_exception(self.actor, exception_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
