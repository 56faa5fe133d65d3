"""The API of a service's keys."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.pagination import CreatedCursor
from apps.serving import keys
from apps.serving import serializers as s
from apps.serving.api.services import USE, VIEW, ServiceView
from apps.serving.models import ServiceKey


def made_key(made: tuple[ServiceKey, str]) -> Response:
    key, secret = made
    data = s.MadeServiceKeySerializer({"key": key, "secret": secret}).data
    return Response(data, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


class KeyList(ServiceView, generics.ListCreateAPIView[ServiceKey]):
    """Keys, ended ones too, newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.ServiceKeySerializer
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[ServiceKey]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return ServiceKey.objects.none()
        return keys.keys(self.service())

    @extend_schema(request=s.NewServiceKeySerializer, responses={201: s.MadeServiceKeySerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A key; its secret is answered this once."""
        asked = s.NewServiceKeySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return made_key(keys.create(self.actor, self.service(), asked.draft()))


class KeyDetail(ServiceView):
    access = {"delete": USE}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, service_id: UUID, service_key_id: UUID) -> Response:
        """It lets nobody in any more, within seconds."""
        keys.revoke(self.actor, self.service(), service_key_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeyRotate(ServiceView):
    @extend_schema(request=s.ServiceKeyRotateSerializer, responses={201: s.MadeServiceKeySerializer})
    def post(self, request: Request, service_id: UUID, service_key_id: UUID) -> Response:
        """A new key in place of one, which goes on for so many hours. 409 where it has ended."""
        asked = s.ServiceKeyRotateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        overlap_h = asked.validated_data["overlap_h"]
        return made_key(keys.rotate(self.actor, self.service(), service_key_id, overlap_h=overlap_h))
