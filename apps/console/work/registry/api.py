"""/api/v1/console/registry/: collections of what nothing in the registry points to."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.kit.api import Person
from apps.registry.choices import CollectionProblem
from apps.registry.distribution import collecting
from apps.registry.models import Collection

MANAGE = on_platform(P.PLATFORM_IMAGES_MANAGE)
TAGS = ["console: registry"]


class LatestAsked(CreatedCursor):
    ordering = "-asked_at"


class CollectionOut(serializers.Serializer[Collection]):
    """`ended_at` is null while it waits or is on. `problem`: why it removed nothing, or not all; empty if it did."""

    id = serializers.UUIDField(read_only=True)
    asked_by = Person(read_only=True, allow_null=True, help_text="Null for the schedule.")
    asked_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    problem = serializers.ChoiceField(choices=CollectionProblem.choices, allow_blank=True, read_only=True)
    blobs = serializers.IntegerField(read_only=True, help_text="How many were removed.")
    freed = serializers.IntegerField(read_only=True, help_text="Bytes.")
    away_ms = serializers.IntegerField(read_only=True, help_text="For how long the registry was away.")


@extend_schema(tags=TAGS)
class Collections(ScopedView, generics.ListAPIView[Collection]):
    """Newest first."""

    access = MANAGE
    queryset = Collection.objects.none()
    serializer_class = CollectionOut
    pagination_class = LatestAsked
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Collection]:
        return collecting.collections(self.actor)

    @extend_schema(request=None, responses={201: CollectionOut})
    def post(self, request: Request) -> Response:
        """Have what nothing points to removed soon. 409 while one is on."""
        return Response(CollectionOut(collecting.ask(self.actor)).data, status=status.HTTP_201_CREATED)
