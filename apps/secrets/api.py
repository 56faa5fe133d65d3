"""The API of secrets. Values go in and never come out."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.common.verbatim import VerbatimField
from apps.secrets import selectors, services
from apps.secrets.choices import Scope
from apps.secrets.models import Secret
from apps.secrets.services import NewSecret
from apps.secrets.values import LARGEST

USE = in_organisation(P.SECRETS_USE)
TAGS = ["secrets"]
VALUE = "At most 64 KiB as UTF-8. It is sealed and cannot be read again."


class SecretOut(serializers.ModelSerializer[Secret]):
    scope = serializers.ChoiceField(choices=Scope.choices, read_only=True)
    department = serializers.UUIDField(source="department_id", allow_null=True, read_only=True)
    created_by = serializers.CharField(source="created_by.username", read_only=True)

    class Meta:
        model = Secret
        fields: tuple[str, ...] = (
            "id",
            "scope",
            "name",
            "description",
            "department",
            "created_by",
            "created_at",
            "rotated_at",
            "last_used_at",
        )
        read_only_fields = fields


class SecretIn(serializers.Serializer[Any]):
    scope = serializers.ChoiceField(choices=Scope.choices, default=Scope.PERSONAL)
    name = serializers.CharField(max_length=100)
    value = VerbatimField(max_length=LARGEST, write_only=True, help_text=VALUE)
    description = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    department = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Of the organisation's: only its people use it."
    )

    def new(self) -> NewSecret:
        data = self.validated_data
        return NewSecret(Scope(data["scope"]), data["name"], data["value"], data["description"], data["department"])


class SecretPatch(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    description = serializers.CharField(required=False, allow_blank=True, max_length=200)
    department = serializers.UUIDField(required=False, allow_null=True)


class SecretValue(serializers.Serializer[Any]):
    value = VerbatimField(max_length=LARGEST, write_only=True, help_text=VALUE)


@extend_schema(tags=TAGS)
class Secrets(ScopedView, generics.ListAPIView[Secret]):
    """One's own secrets and those of the organisation that one may use, newest first. Without their values."""

    access = USE
    body_is_secret = True
    serializer_class = SecretOut
    pagination_class: type[CreatedCursor] = CreatedCursor
    queryset = Secret.objects.none()

    def get_queryset(self) -> QuerySet[Secret]:
        return selectors.visible(self.actor).select_related("created_by")

    @extend_schema(request=SecretIn, responses={201: SecretOut}, tags=TAGS)
    def post(self, request: Request) -> Response:
        """Set a new secret. The organisation's need the right to manage them."""
        asked = SecretIn(data=request.data)
        asked.is_valid(raise_exception=True)
        made = services.create(self.actor, asked.new())
        return Response(SecretOut(made).data, status=status.HTTP_201_CREATED)


class SecretDetail(ScopedView):
    access = USE

    @extend_schema(responses=SecretOut, tags=TAGS)
    def get(self, request: Request, secret_id: UUID) -> Response:
        return Response(SecretOut(selectors.get(self.actor, secret_id)).data)

    @extend_schema(request=SecretPatch, responses=SecretOut, tags=TAGS)
    def patch(self, request: Request, secret_id: UUID) -> Response:
        """Change what is said of it, or who uses it."""
        asked = SecretPatch(data=request.data)
        asked.is_valid(raise_exception=True)
        secret, data = selectors.get(self.actor, secret_id), asked.validated_data
        described = data.get("description", secret.description)
        department_id = data.get("department", secret.department_id)
        services.describe(self.actor, secret_id, description=described, department_id=department_id)
        return Response(SecretOut(selectors.get(self.actor, secret_id)).data)

    @extend_schema(
        parameters=[OpenApiParameter("although_used", bool, description="Delete it even where something uses it.")],
        responses={204: None},
        tags=TAGS,
    )
    def delete(self, request: Request, secret_id: UUID) -> Response:
        """For good. What still uses it is named in a refusal, unless `although_used=true`."""
        although_used = request.query_params.get("although_used") == "true"
        services.delete(self.actor, secret_id, although_used=although_used)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SecretRotation(ScopedView):
    access = USE
    body_is_secret = True

    @extend_schema(request=SecretValue, responses=SecretOut, tags=TAGS)
    def post(self, request: Request, secret_id: UUID) -> Response:
        """Another value from now on. What runs keeps the former until it starts again."""
        asked = SecretValue(data=request.data)
        asked.is_valid(raise_exception=True)
        services.rotate(self.actor, secret_id, asked.validated_data["value"])
        return Response(SecretOut(selectors.get(self.actor, secret_id)).data)
