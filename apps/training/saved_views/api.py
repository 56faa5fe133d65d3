"""/api/v1/training/views/: saved views, one's own and those of the organisation."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.training.api import SUBMIT, VIEW
from apps.training.models import SavedView, ViewSubject
from apps.training.saved_views import selectors, services

OF = OpenApiParameter("of", str, enum=("mine", "organisation"), description="Whose; all that one finds by default.")


class SavedViewSerializer(serializers.ModelSerializer[SavedView]):
    """`query`: of the page's address. `address`: a link that opens it."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    address = serializers.SerializerMethodField()

    class Meta:
        model = SavedView
        fields = ("id", "subject", "name", "query", "shared", "owner", "address", "created_at", "changed_at")
        read_only_fields = fields

    def get_address(self, row: SavedView) -> str:
        return selectors.link(row)


class SaveViewSerializer(serializers.Serializer[SavedView]):
    subject = serializers.ChoiceField(choices=ViewSubject.choices)
    name = serializers.CharField(max_length=services.LONGEST_NAME)
    query = serializers.CharField(max_length=services.LONGEST_QUERY, allow_blank=True, default="")
    shared = serializers.BooleanField(default=False)


class ChangeViewSerializer(serializers.Serializer[SavedView]):
    """What is left out stays."""

    name = serializers.CharField(max_length=services.LONGEST_NAME, required=False)
    query = serializers.CharField(max_length=services.LONGEST_QUERY, allow_blank=True, required=False)
    shared = serializers.BooleanField(required=False)


@extend_schema(tags=["training"])
@extend_schema_view(get=extend_schema(parameters=[OF]))
class SavedViews(ScopedView, generics.ListAPIView[SavedView]):
    """The newest first."""

    access = {"get": VIEW, "post": SUBMIT}
    serializer_class = SavedViewSerializer
    pagination_class: type[CreatedCursor] = CreatedCursor
    queryset = SavedView.objects.none()  # for the schema, which is drawn without an actor

    def get_queryset(self) -> QuerySet[SavedView]:
        return selectors.views_of(self.actor, self.request.query_params.get("of", ""))

    @extend_schema(request=SaveViewSerializer, responses={201: SavedViewSerializer})
    def post(self, request: Request) -> Response:
        """Keep an address under a name; one's own view of that subject and name is replaced."""
        asked = SaveViewSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        row = services.save(self.actor, **{**said, "subject": ViewSubject(said["subject"])})
        return Response(SavedViewSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["training"])
class SavedViewDetail(ScopedView):
    access = {"get": VIEW, "patch": SUBMIT, "delete": SUBMIT}

    @extend_schema(responses=SavedViewSerializer)
    def get(self, request: Request, view_id: UUID) -> Response:
        return Response(SavedViewSerializer(selectors.view(self.actor, view_id)).data)

    @extend_schema(request=ChangeViewSerializer, responses=SavedViewSerializer)
    def patch(self, request: Request, view_id: UUID) -> Response:
        """Rename it, share it, or let it show something else. Its owner may, and who manages shared ones."""
        asked = ChangeViewSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        changes: dict[str, Any] = asked.validated_data
        return Response(SavedViewSerializer(services.change(self.actor, view_id, **changes)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, view_id: UUID) -> Response:
        services.delete(self.actor, view_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
