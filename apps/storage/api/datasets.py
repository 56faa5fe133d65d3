"""The API of datasets and their versions."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.common.pagination import CreatedCursor
from apps.storage import datasets, drafts, sharing, versions
from apps.storage.api import serializers as s
from apps.storage.api.shared import USE, VIEW, SharesView, ShareView, matching
from apps.storage.api.volumes import BIN, MINE, SEARCH, wants_bin
from apps.storage.choices import RootKind
from apps.storage.models import Dataset, DatasetVersion, ManifestEntry
from apps.storage.roots import resolve, root_of_folder

CHANGES = ("added", "changed", "removed")


class ByPath(CreatedCursor):
    """Files of a version, by path."""

    ordering = "path"
    page_size = 100
    max_page_size = 1000


class DatasetList(ScopedView, generics.ListCreateAPIView[Dataset]):
    """Datasets that the actor may read; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.DatasetSerializer
    pagination_class = CreatedCursor
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Dataset]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Dataset.objects.none()
        rows = datasets.binned(self.actor) if wants_bin(self.request) else datasets.visible(self.actor)
        return matching(rows, self.request)

    @extend_schema(parameters=[SEARCH, MINE, BIN])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=s.NewDatasetSerializer, responses={201: s.DatasetSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a dataset; its first version is made next."""
        asked = s.NewDatasetSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        dataset = datasets.create(self.actor, **asked.validated_data)
        return Response(s.DatasetSerializer(dataset).data, status=status.HTTP_201_CREATED)


class DatasetDetail(ScopedView):
    access = {"get": VIEW, "patch": USE, "delete": USE}

    @extend_schema(responses=s.DatasetSerializer)
    def get(self, request: Request, dataset_id: UUID) -> Response:
        """One dataset."""
        return Response(s.DatasetSerializer(datasets.get(self.actor, dataset_id)).data)

    @extend_schema(request=s.ChangeDatasetSerializer, responses=s.DatasetSerializer)
    def patch(self, request: Request, dataset_id: UUID) -> Response:
        """Rename it. Versions never change."""
        dataset = datasets.get(self.actor, dataset_id)
        sharing.require_manage(self.actor, dataset)
        asked = s.ChangeDatasetSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        datasets.rename(self.actor, dataset, name=data.get("name", dataset.name), note=data.get("note"))
        return Response(s.DatasetSerializer(datasets.get(self.actor, dataset_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, dataset_id: UUID) -> Response:
        """Into the bin with all versions; 409 while something that lives mounts one."""
        datasets.delete(self.actor, datasets.get(self.actor, dataset_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DatasetRestore(ScopedView):
    access = USE

    @extend_schema(request=None, responses=s.DatasetSerializer)
    def post(self, request: Request, dataset_id: UUID) -> Response:
        """Out of the bin again."""
        datasets.restore(self.actor, datasets.get_binned(self.actor, dataset_id))
        return Response(s.DatasetSerializer(datasets.get(self.actor, dataset_id)).data)


class DatasetPurge(ScopedView):
    access = USE

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, dataset_id: UUID) -> Response:
        """Remove a dataset in the bin for good, with all versions."""
        datasets.purge(self.actor, datasets.get_binned(self.actor, dataset_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DatasetDraft(ScopedView):
    access = USE

    @extend_schema(request=None, responses=s.DraftSerializer)
    def post(self, request: Request, dataset_id: UUID) -> Response:
        """The folder for uploads to the next version (`/files/folder/{folder}/`), made if there is none."""
        folder = drafts.draft_of(self.actor, datasets.get_writable(self.actor, dataset_id))
        return Response(s.DraftSerializer({"folder": folder.pk}).data)


class VersionList(ScopedView, generics.ListAPIView[DatasetVersion]):
    """Versions of a dataset, newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.VersionSerializer
    pagination_class = CreatedCursor
    filter_backends = ()

    def get_queryset(self) -> QuerySet[DatasetVersion]:
        if getattr(self, "swagger_fake_view", False):
            return DatasetVersion.objects.none()
        return datasets.versions(datasets.get(self.actor, self.kwargs["dataset_id"]))

    @extend_schema(request=s.NewVersionSerializer, responses={202: s.JobSerializer})
    def post(self, request: Request, dataset_id: UUID) -> Response:
        """Make the next version, of a folder of a volume or of what was uploaded: a job that `/jobs/` tells about."""
        dataset = datasets.get_writable(self.actor, dataset_id)
        asked = s.NewVersionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        if "volume" in data:
            source = resolve(self.actor, RootKind.VOLUME, data["volume"])
        else:
            source = root_of_folder(drafts.draft_of(self.actor, dataset))
        job = versions.start(self.actor, dataset, source, data["path"], note=data["note"])
        return Response(s.JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class VersionCompare(ScopedView, generics.ListAPIView[ManifestEntry]):
    """Files that were added, changed or removed between two versions, by path."""

    access = VIEW
    serializer_class = s.DifferenceSerializer
    pagination_class = ByPath
    filter_backends = ()

    def get_queryset(self) -> QuerySet[ManifestEntry]:
        if getattr(self, "swagger_fake_view", False):
            return ManifestEntry.objects.none()
        dataset = datasets.get(self.actor, self.kwargs["dataset_id"])
        change = self.request.query_params.get("change", "changed")
        if change not in CHANGES:
            raise Invalid.field("change", "added, changed, removed")
        return versions.compare(self._version(dataset, "from"), self._version(dataset, "to"), change)

    def _version(self, dataset: Dataset, name: str) -> DatasetVersion:
        text = self.request.query_params.get(name, "")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
        version = datasets.versions(dataset).filter(number=number).first()
        if version is None:
            raise NotFound
        return version

    @extend_schema(
        parameters=[
            OpenApiParameter("from", int, required=True, description="Number of the earlier version."),
            OpenApiParameter("to", int, required=True, description="Number of the later version."),
            OpenApiParameter("change", str, enum=CHANGES, description="Which differences; `changed` by default."),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


class DatasetShares(SharesView):
    def thing(self) -> Dataset:
        return datasets.get(self.actor, self.kwargs["dataset_id"])


class DatasetShareOf(ShareView):
    def thing(self) -> Dataset:
        return datasets.get(self.actor, self.kwargs["dataset_id"])
