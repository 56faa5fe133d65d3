"""/api/v1/images/savings/: work that is saved as an image in the registry. Asked for beside what runs."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.registry.choices import SavingStatus
from apps.registry.models import ImageSaving
from apps.registry.saving import selectors, services
from apps.registry.saving.listing import SavingFilter
from apps.registry.saving.words import problem_words, progress_words

USE = in_organisation(P.IMAGES_USE)
TAGS = ["images"]


class SavingOut(serializers.Serializer[ImageSaving]):
    """`repository`:`tag` is there once it has succeeded."""

    id = serializers.UUIDField(read_only=True)
    workload = serializers.UUIDField(source="workload_id", read_only=True)
    workload_name = serializers.CharField(source="workload.name", read_only=True)
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
