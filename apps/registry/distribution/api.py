"""/api/v1/images/repositories/: what was pushed, who needs it, and deleting it."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.registry.distribution import deleting, downloading, selectors, uses
from apps.registry.distribution.capacity import Capacity, capacity_of
from apps.registry.distribution.listing import RepositoryFilter
from apps.registry.distribution.uses import Use
from apps.registry.models import ImageManifest, ImageRepository, ImageTag

USE = in_organisation(P.IMAGES_USE)
TAGS = ["images"]


class NewestPush(CreatedCursor):
    ordering = "-pushed_at"


class RepositoryOut(serializers.Serializer[ImageRepository]):
    """`owner` is null for the organisation's own. `size`: bytes of the newest version."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    organisation = serializers.CharField(
        source="organisation.slug",
        read_only=True,
        help_text="Whose it is: another one's where it is shared with yours.",
    )
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True, read_only=True)
    shared = serializers.BooleanField(read_only=True, help_text="With everybody in the organisation that owns it.")
    tags = serializers.IntegerField(source="tag_count", read_only=True)
    size = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    pushed_at = serializers.DateTimeField(read_only=True)


class PushedOut(serializers.Serializer[Any]):
    pushed_by = serializers.SerializerMethodField(help_text="null: not known, or somebody of another organisation.")

    def get_pushed_by(self, row: ImageTag | ImageManifest) -> str | None:
        ours = row.organisation_id == self.context["view"].actor.organisation_id
        return row.pushed_by.username if row.pushed_by is not None and ours else None


class TagOut(PushedOut):
    name = serializers.CharField(read_only=True)
    digest = serializers.CharField(source="manifest.digest", read_only=True)
    pushed_at = serializers.DateTimeField(read_only=True)


class VersionOut(PushedOut):
    """`platform`: what it runs on, of an index each. `size`: bytes of all that it names."""

    digest = serializers.CharField(read_only=True)
    media_type = serializers.CharField(read_only=True)
    platform = serializers.CharField(read_only=True)
    size = serializers.IntegerField(read_only=True)
    tags = serializers.SerializerMethodField()
    pushed_at = serializers.DateTimeField(read_only=True)

    def get_tags(self, version: ImageManifest) -> list[str]:
        return sorted(tag.name for tag in version.tags.all())


class UseOut(serializers.Serializer[Use]):
    """What keeps a version from being deleted. What other organisations do has no `name`."""

    kind = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    digest = serializers.CharField(read_only=True)
    url = serializers.CharField(read_only=True)
    owner = serializers.CharField(read_only=True)


class RegistryCapacityOut(serializers.Serializer[Capacity]):
    """Bytes. Layers that images share count once."""

    used = serializers.IntegerField(read_only=True)
    reserved = serializers.IntegerField(read_only=True, help_text="For images that are on their way.")
    limit = serializers.IntegerField(read_only=True)


@extend_schema(tags=TAGS)
class OrganisationRegistry(ScopedView):
    access = USE

    @extend_schema(responses=RegistryCapacityOut)
    def get(self, request: Request) -> Response:
        """How much the organisation keeps in the registry, and may keep."""
        return Response(RegistryCapacityOut(capacity_of(self.actor.organisation())).data)


@extend_schema(tags=TAGS)
class Repositories(ScopedView, generics.ListAPIView[ImageRepository]):
    """Those that one may pull from, the newest push first."""

    access = USE
    serializer_class = RepositoryOut
    pagination_class = NewestPush
    filterset_class = RepositoryFilter
    queryset = ImageRepository.objects.none()

    def get_queryset(self) -> QuerySet[ImageRepository]:
        return selectors.repositories(self.actor)


@extend_schema(tags=TAGS)
class RepositoryDetail(ScopedView):
    access = USE

    @extend_schema(responses=RepositoryOut)
    def get(self, request: Request, repository_id: UUID) -> Response:
        return Response(RepositoryOut(selectors.repository_of(self.actor, repository_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository_id: UUID) -> Response:
        """With all of its versions and tags. Refused while anything needs one of them."""
        deleting.delete_repository(self.actor, repository_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=TAGS)
class RepositoryTags(ScopedView, generics.ListAPIView[ImageTag]):
    """The newest first."""

    access = USE
    serializer_class = TagOut
    pagination_class = NewestPush
    filter_backends = ()
    queryset = ImageTag.objects.none()

    def get_queryset(self) -> QuerySet[ImageTag]:
        return selectors.tags(selectors.repository_of(self.actor, self.kwargs["repository_id"]))


@extend_schema(tags=TAGS)
class RepositoryTag(ScopedView):
    access = USE

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository_id: UUID, tag: str) -> Response:
        """Its image goes with its last tag, unless something needs it."""
        found = deleting.changeable(self.actor, repository_id).tags.filter(name=tag).first()
        if found is None:
            raise NotFound
        deleting.delete_tag(self.actor, found.pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


PLATFORM = OpenApiParameter(
    "platform", str, description="Like linux/amd64, of an image for several; all of them without."
)


@extend_schema(tags=TAGS)
class RepositoryTagFile(ScopedView):
    access = USE

    @extend_schema(parameters=[PLATFORM], responses={(200, "application/x-tar"): OpenApiResponse(OpenApiTypes.BINARY)})
    def get(self, request: Request, repository_id: UUID, tag: str) -> HttpResponseBase:
        """The image as a tar that is made while it is sent: an OCI layout.

        Of a single image `docker load` reads it, too.
        """
        found = selectors.repository_of(self.actor, repository_id)
        named = selectors.tags(found).filter(name=tag).first()
        if named is None:
            raise NotFound
        return downloading.response(self.actor, named, request.query_params.get("platform", ""))


@extend_schema(tags=TAGS)
class RepositoryVersions(ScopedView, generics.ListAPIView[ImageManifest]):
    """Each digest, tagged or not, the newest first."""

    access = USE
    serializer_class = VersionOut
    pagination_class = NewestPush
    filter_backends = ()
    queryset = ImageManifest.objects.none()

    def get_queryset(self) -> QuerySet[ImageManifest]:
        return selectors.versions(selectors.repository_of(self.actor, self.kwargs["repository_id"]))


@extend_schema(tags=TAGS)
class RepositoryVersion(ScopedView):
    access = USE

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository_id: UUID, digest: str) -> Response:
        """With the tags that lead to it. Refused while anything needs it."""
        deleting.delete_version(self.actor, repository_id, digest)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=TAGS)
class RepositoryUses(ScopedView):
    access = USE

    @extend_schema(responses=UseOut(many=True))
    def get(self, request: Request, repository_id: UUID) -> Response:
        """What needs its versions: the newest twenty of each sort. Of a shared one, what of your organisation does."""
        repository = selectors.repository_of(self.actor, repository_id)
        found: Any = uses.shown_of(self.actor, repository, deleting.uses_of_repository(repository))
        return Response(UseOut(found, many=True).data)
