"""/api/v1/console/images/: the platform's images and those that people keep."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters.architectures import Architecture
from apps.common.access import on_platform
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import Named, Person
from apps.console.work.images import selectors
from apps.console.work.images.listing import ImageFilter
from apps.registry import ruling
from apps.registry.models import Image
from apps.registry.ruling import MAX_REFERENCE, MAX_SORT, ImageSpec

MANAGE = on_platform(P.PLATFORM_IMAGES_MANAGE)


class ConsoleImageIn(serializers.Serializer[Any]):
    """`requirements`: exact pins, as in numpy==2.3.5. `allowed`: ids of organisations; null for every one.

    `reference`: a container image by its digest, `registry.lab:5000/team/torch@sha256:…`, instead of requirements.
    `architectures`: of the machines that it runs on, empty for any; what the registry says of a container image wins.
    """

    name = serializers.CharField(max_length=60)
    description_en = serializers.CharField(max_length=200)
    description_zh = serializers.CharField(max_length=200)
    requirements = serializers.ListField(child=serializers.CharField(max_length=200), max_length=500, default=list)
    reference = serializers.CharField(max_length=MAX_REFERENCE, allow_blank=True, default="")
    architectures = serializers.ListField(
        child=serializers.ChoiceField(choices=Architecture.choices), max_length=2, default=list
    )
    sort = serializers.IntegerField(min_value=0, max_value=MAX_SORT, default=100)
    active = serializers.BooleanField(default=True)
    allowed = serializers.ListField(child=serializers.UUIDField(), allow_null=True, max_length=1000, default=None)

    def spec(self) -> ImageSpec:
        data = dict(self.validated_data)
        allowed = data.pop("allowed")
        pins = tuple(data.pop("requirements"))
        data["architectures"] = tuple(data["architectures"])
        return ImageSpec(**data, requirements=pins, allowed=None if allowed is None else tuple(allowed))


class ConsoleImageOut(serializers.Serializer[Image]):
    """`organisation` and `owner` are null for an image of the platform; only those can be `restricted`."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    description_en = serializers.CharField(read_only=True)
    description_zh = serializers.CharField(read_only=True)
    requirements = serializers.ListField(child=serializers.CharField(), read_only=True)
    reference = serializers.CharField(read_only=True)
    architectures = serializers.ListField(child=serializers.CharField(), read_only=True)
    sort = serializers.IntegerField(read_only=True)
    active = serializers.BooleanField(read_only=True)
    restricted = serializers.BooleanField(read_only=True)
    allowed = Named(many=True, read_only=True)
    organisation = Named(read_only=True, allow_null=True)
    owner = Person(read_only=True, allow_null=True)
    shared = serializers.BooleanField(read_only=True)
    environments = serializers.IntegerField(read_only=True)
    runs = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    edited_at = serializers.DateTimeField(read_only=True, allow_null=True)


class ImageUseOut(serializers.Serializer[selectors.Use]):
    organisation = Named(read_only=True)
    people = serializers.IntegerField(read_only=True)
    environments = serializers.IntegerField(read_only=True)
    runs = serializers.IntegerField(read_only=True)


class ConsoleImageDetailOut(ConsoleImageOut):
    uses = ImageUseOut(many=True, read_only=True)


def shown(actor: Actor, image_id: UUID) -> Any:
    ruling.get(actor, image_id)
    image = selectors.with_uses(ruling.all_images(actor)).get(pk=image_id)
    image.uses = selectors.uses(actor, image)  # type: ignore[attr-defined]
    return ConsoleImageDetailOut(image).data


@extend_schema(tags=["console: images"])
class Images(ScopedView, generics.ListAPIView[Image]):
    """Newest first."""

    access = MANAGE
    queryset = Image.objects.none()
    serializer_class = ConsoleImageOut
    filterset_class = ImageFilter

    def get_queryset(self) -> QuerySet[Image]:
        return selectors.with_uses(ruling.all_images(self.actor))

    @extend_schema(request=ConsoleImageIn, responses={201: ConsoleImageDetailOut})
    def post(self, request: Request) -> Response:
        """Add an image of the platform."""
        given = ConsoleImageIn(data=request.data)
        given.is_valid(raise_exception=True)
        image = ruling.create(self.actor, given.spec())
        return Response(shown(self.actor, image.pk), status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: images"])
class ImageDetail(ScopedView):
    """One image, with who uses it."""

    access = MANAGE

    @extend_schema(responses=ConsoleImageDetailOut)
    def get(self, request: Request, image_id: UUID) -> Response:
        return Response(shown(self.actor, image_id))

    @extend_schema(request=ConsoleImageIn, responses=ConsoleImageDetailOut)
    def put(self, request: Request, image_id: UUID) -> Response:
        """Change an image of the platform, for what starts from now on."""
        given = ConsoleImageIn(data=request.data)
        given.is_valid(raise_exception=True)
        ruling.update(self.actor, image_id, given.spec())
        return Response(shown(self.actor, image_id))


@extend_schema(tags=["console: images"], request=None, responses=ConsoleImageDetailOut)
class ImageWithdraw(ScopedView):
    """A personal image, out of every picker; what uses it goes on with it."""

    access = MANAGE

    def post(self, request: Request, image_id: UUID) -> Response:
        ruling.withdraw(self.actor, image_id)
        return Response(shown(self.actor, image_id))
