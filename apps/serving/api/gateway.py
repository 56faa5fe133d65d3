"""The API of the organisation's own address: names of models, and its keys."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.serving import gateway_serializers as g
from apps.serving import keys, model_names
from apps.serving import serializers as s
from apps.serving.api.keys import made_key
from apps.serving.api.services import USE, VIEW
from apps.serving.models import ModelName, ServiceKey

MANAGE = in_organisation(Permission.SERVICES_MANAGE_ALL)


class GatewayNameList(ScopedView, generics.ListCreateAPIView[ModelName]):
    """What models are called at the organisation's address, newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = g.ModelNameSerializer
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[ModelName]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return ModelName.objects.none()
        return model_names.names(self.actor).order_by("-created_at", "-pk")

    @extend_schema(request=g.NewModelNameSerializer, responses={201: g.ModelNameSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Let a service answer to this name."""
        asked = g.NewModelNameSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = model_names.give(self.actor, asked.validated_data["service"], asked.draft())
        return Response(g.ModelNameSerializer(made).data, status=status.HTTP_201_CREATED)


class GatewayName(ScopedView):
    access = {"delete": USE}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, model_name_id: UUID) -> Response:
        """It answers nobody any more, within seconds."""
        model_names.take_back(self.actor, model_name_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class GatewayKeyList(ScopedView, generics.ListCreateAPIView[ServiceKey]):
    """Keys of the organisation's address, ended ones too, newest first."""

    access = {"get": MANAGE, "post": MANAGE}
    serializer_class = g.GatewayKeySerializer
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[ServiceKey]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return ServiceKey.objects.none()
        return keys.keys_of_address(self.actor)

    @extend_schema(request=g.NewGatewayKeySerializer, responses={201: s.MadeServiceKeySerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A key; its secret is answered this once."""
        asked = g.NewGatewayKeySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return made_key(keys.create(self.actor, None, asked.draft()))


class GatewayKey(ScopedView):
    access = {"delete": MANAGE}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, gateway_key_id: UUID) -> Response:
        """It lets nobody in any more, within seconds."""
        keys.revoke(self.actor, None, gateway_key_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class GatewayKeyRotate(ScopedView):
    access = MANAGE

    @extend_schema(request=s.ServiceKeyRotateSerializer, responses={201: s.MadeServiceKeySerializer})
    def post(self, request: Request, gateway_key_id: UUID) -> Response:
        """A new key in place of one, which goes on for so many hours. 409 where it has ended."""
        asked = s.ServiceKeyRotateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        overlap_h = asked.validated_data["overlap_h"]
        return made_key(keys.rotate(self.actor, None, gateway_key_id, overlap_h=overlap_h))
