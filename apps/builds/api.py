"""The API of builds: the same services and permissions as the pages."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.builds import selectors, services
from apps.builds.models import Build
from apps.builds.serializers import BuildSerializer, OrderSerializer, RecipeSerializer
from apps.builds.tables import BuildFilter
from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.registry.models import Image
from apps.registry.recipes.catalogue import RECIPES
from apps.workloads.launching.form import new_key
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch, LogView
from apps.workloads.models import Workload

VIEW = in_organisation(Permission.BUILDS_VIEW)
USE = in_organisation(Permission.IMAGES_USE)


class BuildList(ScopedView, generics.ListCreateAPIView[Build]):
    """Builds of images: the actor's own, or all of the organisation's for who manages its images; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = BuildSerializer
    filterset_class = BuildFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Build]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Build.objects.none()
        return selectors.builds(self.actor)

    @extend_schema(request=OrderSerializer, responses={201: BuildSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Build an image: checked, quota reserved, money held, queued; or nothing at all."""
        asked = OrderSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        order = asked.as_order(self._base(asked))
        build = services.submit(self.actor, order, asked.as_launch(key_of(request._request) or new_key()))
        return Response(BuildSerializer(selectors.get(self.actor, build.pk)).data, status=status.HTTP_201_CREATED)

    def _base(self, asked: OrderSerializer) -> Image | None:
        base_id = asked.validated_data["base"]
        if base_id is None:
            return None
        found = selectors.bases(self.actor).filter(pk=base_id).first()
        if found is None:
            raise Invalid.field("base", _("Choose one of the images."))
        return found


class RecipeList(ScopedView):
    access = USE

    @extend_schema(responses=RecipeSerializer(many=True))
    def get(self, request: Request) -> Response:
        """What the platform's images are made by. All of it is code of this version, so that the list has no pages."""
        return Response(RecipeSerializer(RECIPES, many=True).data)


class BuildView(ScopedView):
    """Base of everything about one build, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = VIEW

    def build(self) -> Build:
        return selectors.get(self.actor, self.kwargs["build_id"])


class BuildDetail(BuildView):
    @extend_schema(responses=BuildSerializer)
    def get(self, request: Request, **kwargs: Any) -> Response:
        """One build, its steps, and the image that came of it."""
        return Response(BuildSerializer(self.build()).data)


class BuildStop(BuildView):
    access = USE

    @extend_schema(request=None, responses={202: BuildSerializer})
    def post(self, request: Request, **kwargs: Any) -> Response:
        """Ask it to end; no image is made of it. 409 where it has ended already."""
        services.stop(self.actor, self.build())
        return Response(BuildSerializer(self.build()).data, status=status.HTTP_202_ACCEPTED)


class BuildLogView(LogView):
    access = VIEW

    def workload(self) -> Workload:
        return selectors.get(self.actor, self.kwargs["build_id"]).workload


class BuildLog(BuildLogView, LogBytes):
    """The log as bytes."""


class BuildLogLines(BuildLogView, LogLines):
    """The log by lines."""


class BuildLogSearch(BuildLogView, LogSearch):
    """A text in the log."""
