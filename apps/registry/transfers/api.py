"""/api/v1/images/pulls/ and /images/uploads/: images on their way into the registry, from an address or an archive."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.common.verbatim import VerbatimField
from apps.registry.choices import TransferKind, TransferStatus
from apps.registry.models import ImageTransfer
from apps.registry.transfers import selectors, services
from apps.registry.transfers.addresses import LONGEST
from apps.registry.transfers.listing import TransferFilter
from apps.registry.transfers.models import MAX_SOURCE
from apps.registry.transfers.words import problem_words

USE = in_organisation(P.IMAGES_USE)
TAGS = ["images"]


class PullOut(serializers.Serializer[ImageTransfer]):
    """`repository`:`tag` is there once it has succeeded, and not before. Bytes are those of its layers."""

    id = serializers.UUIDField(read_only=True)
    kind = serializers.ChoiceField(choices=TransferKind.choices, read_only=True)
    address = serializers.CharField(source="source", read_only=True, help_text="Of an archive: its file, once it came.")
    image = serializers.CharField(read_only=True, help_text="Which of the archive's images was chosen.")
    offered = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Between which images to choose, while that is open."
    )
    folder = serializers.UUIDField(
        source="archive_id", read_only=True, allow_null=True, help_text="Where an archive is uploaded to."
    )
    repository = serializers.CharField(source="repository_name", read_only=True)
    tag = serializers.CharField(read_only=True)
    platform = serializers.CharField(read_only=True, help_text="Empty: all that it has.")
    status = serializers.ChoiceField(choices=TransferStatus.choices, read_only=True)
    problem = serializers.CharField(read_only=True, help_text="A code; empty where nothing is wrong.")
    problem_text = serializers.SerializerMethodField()
    digest = serializers.CharField(read_only=True, help_text="What the address leads to, once it was asked.")
    total_bytes = serializers.IntegerField(read_only=True)
    done_bytes = serializers.IntegerField(read_only=True)
    layers = serializers.IntegerField(read_only=True)
    layers_done = serializers.IntegerField(read_only=True, help_text="Layers and configurations that are here.")
    owner = serializers.CharField(source="owner.username", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    started_at = serializers.DateTimeField(read_only=True, allow_null=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)

    def get_problem_text(self, transfer: ImageTransfer) -> str:
        return problem_words(transfer)


class PullIn(serializers.Serializer[Any]):
    address = serializers.CharField(max_length=LONGEST, help_text="host/repository:tag or host/repository@sha256:…")
    name = serializers.CharField(
        max_length=150, required=False, allow_blank=True, default="", help_text="Empty: as at the address."
    )
    tag = serializers.CharField(max_length=128, required=False, allow_blank=True, default="")
    of_organisation = serializers.BooleanField(default=False, help_text="Into the organisation's own repositories.")
    platform = serializers.ChoiceField(
        choices=services.PLATFORMS, required=False, allow_blank=True, default="", help_text="Empty: all that it has."
    )
    username = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")
    password = VerbatimField(
        max_length=4000,
        required=False,
        allow_blank=True,
        default="",
        write_only=True,
        help_text="Or a token. It is sealed, and forgotten once the image is here.",
    )


@extend_schema(tags=TAGS)
class Pulls(ScopedView, generics.ListAPIView[ImageTransfer]):
    """One's own, the newest first; all of the organisation for who manages its images."""

    access = USE
    body_is_secret = True
    serializer_class = PullOut
    pagination_class = CreatedCursor
    filterset_class = TransferFilter
    queryset = ImageTransfer.objects.none()

    def get_queryset(self) -> QuerySet[ImageTransfer]:
        return selectors.transfers(self.actor)

    @extend_schema(request=PullIn, responses={201: PullOut})
    def post(self, request: Request) -> Response:
        """Pull an image into the registry. It begins within seconds; ask for its state until `ended_at` is set."""
        given = PullIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = services.pull(self.actor, services.NewPull(**given.validated_data))
        return Response(PullOut(made).data, status=status.HTTP_201_CREATED)


class UploadIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=150)
    tag = serializers.CharField(
        max_length=128, required=False, allow_blank=True, default="", help_text="Empty: latest."
    )
    of_organisation = serializers.BooleanField(default=False, help_text="Into the organisation's own repositories.")
    platform = serializers.ChoiceField(
        choices=services.PLATFORMS, required=False, allow_blank=True, default="", help_text="Empty: all that it has."
    )


class ChoiceIn(serializers.Serializer[Any]):
    image = serializers.CharField(max_length=MAX_SOURCE, help_text="One of those in `offered`.")


@extend_schema(tags=TAGS)
class Uploads(ScopedView):
    access = USE

    @extend_schema(request=UploadIn, responses={201: PullOut})
    def post(self, request: Request) -> Response:
        """Begin the upload of an image archive, as docker save or an OCI tool writes it; also with gzip or zstd.

        Upload one file into `/files/folder/{folder}/uploads/`, in parts. Once it is complete its image is checked and
        brought into the registry: `/images/pulls/{id}/` tells how far that is.
        """
        given = UploadIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = services.upload(self.actor, services.NewArchive(**given.validated_data))
        return Response(PullOut(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS)
class PullChoice(ScopedView):
    access = USE

    @extend_schema(request=ChoiceIn, responses=PullOut)
    def post(self, request: Request, pull_id: UUID) -> Response:
        """Say which image of an archive is meant, where it has several (`status` is `choosing`)."""
        given = ChoiceIn(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(PullOut(services.choose(self.actor, pull_id, given.validated_data["image"])).data)


@extend_schema(tags=TAGS)
class PullDetail(ScopedView):
    access = USE

    @extend_schema(responses=PullOut)
    def get(self, request: Request, pull_id: UUID) -> Response:
        return Response(PullOut(selectors.transfer_of(self.actor, pull_id)).data)


@extend_schema(tags=TAGS)
class PullCancel(ScopedView):
    access = USE

    @extend_schema(request=None, responses=PullOut)
    def post(self, request: Request, pull_id: UUID) -> Response:
        """Refused once its tag is being set."""
        return Response(PullOut(services.cancel(self.actor, pull_id)).data)
