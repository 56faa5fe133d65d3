"""The API of builds: the same services and permissions as the pages."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.builds import selectors, services
from apps.builds.cache import emptying
from apps.builds.models import Build
from apps.builds.serializers import (
    BuildSerializer,
    CacheUseSerializer,
    OrderSerializer,
    PlannedStageSerializer,
    PreviewOrderSerializer,
    RecipeSerializer,
)
from apps.builds.tables import BuildFilter
from apps.common.access import Access, in_organisation
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.idempotency import key_of
from apps.common.permissions import Permission
from apps.registry.models import Image
from apps.registry.recipes.catalogue import RECIPES
from apps.workloads.launching.form import new_key
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch
from apps.workloads.single_workload.api import WorkDetail, WorkList, WorkStop, WorkView

VIEW = in_organisation(Permission.BUILDS_VIEW)
USE = in_organisation(Permission.IMAGES_USE)


class BuildList(WorkList):
    """Builds of images: the actor's own, or all of the organisation's for who manages its images; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = BuildSerializer
    filterset_class = BuildFilter

    def rows(self, actor: Actor) -> QuerySet[Build]:
        return selectors.builds(actor)

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


class BuildPreview(ScopedView):
    """What a Containerfile comes to, before anything is built."""

    access = USE

    @extend_schema(request=PreviewOrderSerializer, responses=PlannedStageSerializer(many=True))
    def post(self, request: Request) -> Response:
        """The stages that would be carried out, in order; the last one makes the image. Nothing is kept of it."""
        asked = PreviewOrderSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return Response(PlannedStageSerializer(services.preview(self.actor, asked.as_order()), many=True).data)


class RecipeList(ScopedView):
    access = USE

    @extend_schema(responses=RecipeSerializer(many=True))
    def get(self, request: Request) -> Response:
        """What the platform's images are made by. All of it is code of this version, so that the list has no pages."""
        return Response(RecipeSerializer(RECIPES, many=True).data)


class BuildCache(ScopedView):
    """What steps of the organisation's builds have changed, kept for its next ones."""

    access = {"get": VIEW, "delete": in_organisation(Permission.IMAGES_MANAGE)}

    @extend_schema(responses=CacheUseSerializer)
    def get(self, request: Request) -> Response:
        """How much it holds, and may."""
        return Response(CacheUseSerializer(emptying.use_of(self.actor)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Empty it: the next builds carry out all of their steps."""
        emptying.empty(self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class BuildView(WorkView):
    access: ClassVar[Access | dict[str, Access]] = VIEW
    row_id = "build_id"
    serializer_class = BuildSerializer

    def rows(self, actor: Actor) -> QuerySet[Build]:
        return selectors.builds(actor)


class BuildDetail(BuildView, WorkDetail):
    """One build, its steps, and the image that came of it."""


class BuildStop(BuildView, WorkStop):
    """Ask it to end; no image is made of it. 409 where it has ended already."""

    access = USE

    def stop(self, actor: Actor, row: Build) -> None:
        services.stop(actor, row)


class BuildLog(BuildView, LogBytes):
    """The log as bytes."""


class BuildLogLines(BuildView, LogLines):
    """The log by lines."""


class BuildLogSearch(BuildView, LogSearch):
    """A text in the log."""
