"""/api/v1/images/savings/: work that is saved as an image in the registry, which is asked for beside what runs, and
images that machines keep, on their way there.
"""

from typing import Any
from uuid import UUID, uuid4

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.registry.choices import SavingStatus
from apps.registry.models import Image, ImageSaving
from apps.registry.saving import selectors, services
from apps.registry.saving.listing import SavingFilter
from apps.registry.saving.models import MAX_NOTE
from apps.registry.saving.services import NewSaving
from apps.registry.saving.words import problem_words, progress_words

USE = in_organisation(P.IMAGES_USE)
TAGS = ["images"]


class SavingOut(serializers.Serializer[ImageSaving]):
    """`repository`:`tag` is there once it has succeeded."""

    id = serializers.UUIDField(read_only=True)
    workload = serializers.UUIDField(
        source="workload_id", read_only=True, allow_null=True, help_text="Null where an image of a machine is sent."
    )
    workload_name = serializers.CharField(source="workload.name", default="", read_only=True)
    kept_image = serializers.UUIDField(
        source="kept_id", read_only=True, allow_null=True, help_text="The image that its machine has kept until now."
    )
    repository = serializers.CharField(source="repository_name", read_only=True)
    tag = serializers.CharField(read_only=True)
    note = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(choices=SavingStatus.choices, read_only=True)
    progress_text = serializers.SerializerMethodField()
    fraction = serializers.FloatField(read_only=True, allow_null=True, help_text="Of what has to be sent, 0 to 1.")
    waits_since = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="Since when the registry or the machine cannot be reached."
    )
    problem = serializers.CharField(read_only=True, help_text="A code; empty where nothing is wrong.")
    problem_text = serializers.SerializerMethodField()
    digest = serializers.CharField(read_only=True, help_text="Empty until its machine has written the image.")
    owner = serializers.CharField(source="owner.username", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)

    def get_progress_text(self, saving: ImageSaving) -> str:
        return progress_words(saving)

    def get_problem_text(self, saving: ImageSaving) -> str:
        return problem_words(saving)


@extend_schema(tags=TAGS)
class Savings(ScopedView, generics.ListAPIView[ImageSaving]):
    """One's own, the newest first; all of the organisation for who manages its images."""

    access = USE
    serializer_class = SavingOut
    pagination_class = CreatedCursor
    filterset_class = SavingFilter
    queryset = ImageSaving.objects.none()

    def get_queryset(self) -> QuerySet[ImageSaving]:
        return selectors.savings(self.actor)


@extend_schema(tags=TAGS)
class SavingDetail(ScopedView):
    access = USE

    @extend_schema(responses=SavingOut)
    def get(self, request: Request, saving_id: UUID) -> Response:
        return Response(SavingOut(selectors.saving_of(self.actor, saving_id)).data)


@extend_schema(tags=TAGS)
class SavingCancel(ScopedView):
    access = USE

    @extend_schema(request=None, responses=SavingOut)
    def post(self, request: Request, saving_id: UUID) -> Response:
        """It ends within seconds, unless all of it had been sent by then."""
        return Response(SavingOut(services.cancel(self.actor, saving_id)).data)


class KeptImageOut(serializers.ModelSerializer[Image]):
    """An image of one's own that only a machine keeps."""

    digest = serializers.SerializerMethodField()

    class Meta:
        model = Image
        fields = ("id", "name", "reference", "digest", "created_at")

    def get_digest(self, image: Image) -> str:
        return image.reference.partition("@")[2]


class SendingIn(serializers.Serializer[Any]):
    """Where it goes. `tag` empty: the next number."""

    name = serializers.CharField(max_length=150, help_text="Of the repository, below one's own namespace.")
    tag = serializers.CharField(required=False, allow_blank=True, max_length=128, default="")
    of_organisation = serializers.BooleanField(required=False, default=False)
    note = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NOTE, default="")


class SentOut(serializers.Serializer[Any]):
    """`refused`: by the image's name, why it is not on its way."""

    sent = SavingOut(many=True)
    refused = serializers.DictField(child=serializers.CharField())


@extend_schema(tags=TAGS)
class KeptImages(ScopedView, generics.ListAPIView[Image]):
    """One's own images that were saved while there was no registry and are neither there nor on their way."""

    access = USE
    serializer_class = KeptImageOut
    pagination_class = CreatedCursor
    queryset = Image.objects.none()

    def get_queryset(self) -> QuerySet[Image]:
        return selectors.left_to_send(self.actor)

    @extend_schema(operation_id="images_savings_kept_send_all", request=None, responses={202: SentOut})
    def post(self, request: Request) -> Response:
        """Put all of them into the registry, each into a repository of its own name."""
        sent, refused = services.send_all(self.actor)
        told = {"sent": sent, "refused": {name: error.sentences for name, error in refused.items()}}
        return Response(SentOut(told).data, status=status.HTTP_202_ACCEPTED)


@extend_schema(tags=TAGS)
class KeptImage(ScopedView):
    access = USE

    @extend_schema(operation_id="images_savings_kept_send", request=SendingIn, responses={202: SavingOut})
    def post(self, request: Request, image_id: UUID) -> Response:
        """Put it into the registry; `/images/savings/{id}/` tells how far that is. The image stays as it is."""
        asked = SendingIn(data=request.data)
        asked.is_valid(raise_exception=True)
        image = selectors.kept_image(self.actor, image_id)
        new = NewSaving(key=key_of(request._request) or uuid4().hex, **asked.validated_data)
        return Response(SavingOut(services.send(self.actor, image, new)).data, status=status.HTTP_202_ACCEPTED)
