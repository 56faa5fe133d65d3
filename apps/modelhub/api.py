"""The API of models: the same services as the pages. Files of a version are at `/files/model/<version>/`."""

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
from apps.modelhub import selectors, services, uses
from apps.modelhub import serializers as s
from apps.modelhub.choices import Source
from apps.modelhub.models import Model, ModelVersion
from apps.modelhub.services import Lineage
from apps.storage import drafts
from apps.storage.api.serializers import DraftSerializer
from apps.storage.api.shared import SharesView, ShareView, matching
from apps.storage.api.volumes import BIN, MINE, SEARCH, wants_bin
from apps.storage.choices import RootKind
from apps.storage.roots import resolve, root_of_folder

VIEW = in_organisation(Permission.MODELS_VIEW)
USE = in_organisation(Permission.MODELS_USE)


class ModelList(ScopedView, generics.ListCreateAPIView[Model]):
    """Models that the actor may read; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.ModelSerializer
    pagination_class = CreatedCursor
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Model]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Model.objects.none()
        rows = selectors.binned(self.actor) if wants_bin(self.request) else selectors.models_for(self.actor)
        return matching(rows, self.request)

    @extend_schema(parameters=[SEARCH, MINE, BIN])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=s.NewModelSerializer, responses={201: s.ModelSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a model; its first version is made next."""
        asked = s.NewModelSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        model = services.create(self.actor, **asked.validated_data)
        return Response(s.ModelSerializer(model).data, status=status.HTTP_201_CREATED)


class ModelDetail(ScopedView):
    access = {"get": VIEW, "patch": USE, "delete": USE}

    @extend_schema(responses=s.ModelSerializer)
    def get(self, request: Request, model_id: UUID) -> Response:
        """One model."""
        return Response(s.ModelSerializer(selectors.get(self.actor, model_id)).data)

    @extend_schema(request=s.ChangeModelSerializer, responses=s.ModelSerializer)
    def patch(self, request: Request, model_id: UUID) -> Response:
        """Rename it, or decide who may read it. Versions never change."""
        asked = s.ChangeModelSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        services.change(self.actor, selectors.get(self.actor, model_id), **asked.validated_data)
        return Response(s.ModelSerializer(selectors.get(self.actor, model_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, model_id: UUID) -> Response:
        """Into the bin with all versions; 409 while something needs one."""
        services.delete(self.actor, selectors.get(self.actor, model_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ModelRestore(ScopedView):
    access = USE

    @extend_schema(request=None, responses=s.ModelSerializer)
    def post(self, request: Request, model_id: UUID) -> Response:
        """Out of the bin again."""
        services.restore(self.actor, selectors.get_binned(self.actor, model_id))
        return Response(s.ModelSerializer(selectors.get(self.actor, model_id)).data)


class ModelPurge(ScopedView):
    access = USE

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, model_id: UUID) -> Response:
        """Remove a model in the bin for good, with all versions."""
        services.purge(self.actor, selectors.get_binned(self.actor, model_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ModelDraft(ScopedView):
    access = USE

    @extend_schema(request=None, responses=DraftSerializer)
    def post(self, request: Request, model_id: UUID) -> Response:
        """The folder for uploads to the next version (`/files/folder/{folder}/`), made if there is none."""
        folder = drafts.draft_of(self.actor, selectors.get_writable(self.actor, model_id))
        return Response(DraftSerializer({"folder": folder.pk}).data)


class VersionList(ScopedView, generics.ListAPIView[ModelVersion]):
    """Versions of a model, newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.ModelVersionSerializer
    pagination_class = CreatedCursor
    filter_backends = ()

    def get_queryset(self) -> QuerySet[ModelVersion]:
        if getattr(self, "swagger_fake_view", False):
            return ModelVersion.objects.none()
        rows = selectors.versions(selectors.get(self.actor, self.kwargs["model_id"]))
        return rows.prefetch_related("training_data")

    @extend_schema(request=s.NewModelVersionSerializer, responses={202: s.ModelVersionSerializer})
    def post(self, request: Request, model_id: UUID) -> Response:
        """Make the next version, of a volume or of what was uploaded; it is ready when its contents are copied."""
        model = selectors.get_writable(self.actor, model_id)
        asked = s.NewModelVersionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        if "volume" in data:
            source = resolve(self.actor, RootKind.VOLUME, data["volume"])
            lineage = Lineage(Source.VOLUME, source.title)
        else:
            source, lineage = root_of_folder(drafts.draft_of(self.actor, model)), Lineage(Source.UPLOAD)
        version = services.add_version(
            self.actor, model, source, data["path"], lineage=lineage, note=data["note"], framework=data["framework"]
        )
        return Response(s.ModelVersionSerializer(version).data, status=status.HTTP_202_ACCEPTED)


class VersionDetail(ScopedView):
    access = {"get": VIEW, "patch": USE, "delete": USE}

    @extend_schema(request=s.CardSerializer, responses=s.ModelVersionSerializer)
    def patch(self, request: Request, version_id: UUID) -> Response:
        """Write its model card; nothing else of a version changes."""
        version = selectors.version(self.actor, version_id)
        asked = s.CardSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        services.write_card(self.actor, version, asked.validated_data["card"])
        return Response(s.ModelVersionSerializer(selectors.version(self.actor, version_id)).data)

    @extend_schema(responses=s.ModelVersionUsesSerializer)
    def get(self, request: Request, version_id: UUID) -> Response:
        """One version, with what uses it."""
        version = selectors.version(self.actor, version_id)
        return Response(s.ModelVersionUsesSerializer({"version": version, "uses": uses.uses_of(version)}).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, version_id: UUID) -> Response:
        """Delete it for good; 409 while something needs it, or while it is being copied."""
        services.delete_version(self.actor, selectors.version(self.actor, version_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ModelShares(SharesView):
    access = {"get": VIEW, "post": USE}

    def thing(self) -> Model:
        return selectors.get(self.actor, self.kwargs["model_id"])


class ModelShareOf(ShareView):
    access = USE

    def thing(self) -> Model:
        return selectors.get(self.actor, self.kwargs["model_id"])
