"""The API of volumes: the same services and permissions as the pages."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.storage import sharing, volumes
from apps.storage.api import serializers as s
from apps.storage.api.shared import USE, VIEW, SharesView, ShareView, matching
from apps.storage.models import Volume

SEARCH = OpenApiParameter("search", str, description="Only where name or note holds this.")
MINE = OpenApiParameter("mine", bool, description="Only one's own.")
BIN = OpenApiParameter("bin", bool, description="What is in the bin instead of what is not.")


def wants_bin(request: Request) -> bool:
    return request.query_params.get("bin", "").lower() in ("1", "true")


class VolumeList(ScopedView, generics.ListCreateAPIView[Volume]):
    """Volumes that the actor may read: their own and shared ones, or all for who manages them; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.VolumeSerializer
    pagination_class = CreatedCursor
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Volume]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Volume.objects.none()
        rows = volumes.binned(self.actor) if wants_bin(self.request) else volumes.visible(self.actor)
        return matching(rows, self.request)

    @extend_schema(parameters=[SEARCH, MINE, BIN])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=s.NewVolumeSerializer, responses={201: s.VolumeSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make an empty volume; its size is reserved in the quota of the person, department and organisation."""
        asked = s.NewVolumeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        volume = volumes.create(self.actor, **asked.validated_data)
        return Response(s.VolumeSerializer(volume).data, status=status.HTTP_201_CREATED)


class VolumeDetail(ScopedView):
    access = {"get": VIEW, "patch": USE, "delete": USE}

    @extend_schema(responses=s.VolumeSerializer)
    def get(self, request: Request, volume_id: UUID) -> Response:
        """One volume and how full it is."""
        return Response(s.VolumeSerializer(volumes.get(self.actor, volume_id)).data)

    @extend_schema(request=s.ChangeVolumeSerializer, responses=s.VolumeSerializer)
    def patch(self, request: Request, volume_id: UUID) -> Response:
        """Rename, or change the size: no further down than what is used."""
        volume = volumes.get(self.actor, volume_id)
        sharing.require_manage(self.actor, volume)
        asked = s.ChangeVolumeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        if "size_mib" in data:
            volumes.resize(self.actor, volume, size_mib=data["size_mib"])
        if {"name", "note"} & set(data):
            volumes.rename(self.actor, volume, name=data.get("name", volume.name), note=data.get("note"))
        return Response(s.VolumeSerializer(volumes.get(self.actor, volume_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, volume_id: UUID) -> Response:
        """Into the bin; 409 while something that lives mounts it."""
        volumes.delete(self.actor, volumes.get(self.actor, volume_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class VolumeRestore(ScopedView):
    access = USE

    @extend_schema(request=None, responses=s.VolumeSerializer)
    def post(self, request: Request, volume_id: UUID) -> Response:
        """Out of the bin again."""
        volumes.restore(self.actor, volumes.get_binned(self.actor, volume_id))
        return Response(s.VolumeSerializer(volumes.get(self.actor, volume_id)).data)


class VolumePurge(ScopedView):
    access = USE

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, volume_id: UUID) -> Response:
        """Remove a volume in the bin for good, with its files; the quota is free again."""
        volumes.purge(self.actor, volumes.get_binned(self.actor, volume_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class VolumeShares(SharesView):
    def thing(self) -> Volume:
        return volumes.get(self.actor, self.kwargs["volume_id"])


class VolumeShareOf(ShareView):
    def thing(self) -> Volume:
        return volumes.get(self.actor, self.kwargs["volume_id"])
