"""The API of what is inside an environment: snapshots, operations, services, measurements, images made of it."""

from typing import Any
from uuid import UUID, uuid4

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.envs import program, selectors
from apps.envs import serializers as s
from apps.envs.api.environments import USE, VIEW, EnvironmentView
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.services import images, snapshots, tools
from apps.registry import selectors as registry
from apps.registry import services as personal
from apps.registry.models import Image
from apps.registry.saving.api import SavingOut
from apps.registry.saving.services import NewSaving
from apps.workloads import selectors as workloads
from apps.workloads.fit.serializers import FitSerializer
from apps.workloads.fit.smaller import fit_of
from apps.workloads.series import series_of

IMAGES = in_organisation(Permission.IMAGES_USE)
MAX_ROWS = 200


class Snapshots(EnvironmentView):
    access = {"get": VIEW, "post": USE}

    @extend_schema(responses=s.SnapshotSerializer(many=True))
    def get(self, request: Request, environment_id: UUID) -> Response:
        """Snapshots of the home folder, newest first, at most 200."""
        rows = selectors.snapshots(self.environment())[:MAX_ROWS]
        return Response(s.SnapshotSerializer(rows, many=True).data)

    @extend_schema(request=s.NoteSerializer, responses={202: s.OperationSerializer})
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Take one now. 409 while something else is being done to the environment."""
        asked = s.NoteSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        operation = snapshots.take(self.actor, self.environment(), note=asked.validated_data["note"])
        return Response(s.OperationSerializer(operation).data, status=status.HTTP_202_ACCEPTED)


class SnapshotDetail(EnvironmentView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, environment_id: UUID, snapshot_id: UUID) -> Response:
        """Remove a snapshot for good."""
        snapshots.drop(self.actor, snapshots.get(self.environment(), snapshot_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Rollback(EnvironmentView):
    @extend_schema(request=s.RollbackSerializer, responses={202: s.OperationSerializer})
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Put the files back as a snapshot has them, or empty the home; as they are now they are saved first."""
        asked = s.RollbackSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        environment, chosen = self.environment(), asked.validated_data["snapshot"]
        snapshot = snapshots.get(environment, chosen) if chosen else None
        operation = snapshots.restore(self.actor, environment, snapshot)
        return Response(s.OperationSerializer(operation).data, status=status.HTTP_202_ACCEPTED)


class Operations(EnvironmentView):
    access = VIEW

    @extend_schema(responses=s.OperationSerializer(many=True))
    def get(self, request: Request, environment_id: UUID) -> Response:
        """What is under way and what was done, newest first, at most 200."""
        rows = self.environment().operations.order_by("-created_at")[:MAX_ROWS]
        return Response(s.OperationSerializer(rows, many=True).data)


class Services(EnvironmentView):
    access = VIEW

    @extend_schema(responses=s.ServicesSerializer)
    def get(self, request: Request, environment_id: UUID) -> Response:
        """Which services run inside; all false where it does not run or does not answer."""
        return Response(services_of(self, self.environment()))


def services_of(view: EnvironmentView, environment: Environment) -> dict[str, bool]:
    require_own(view.actor, environment)
    found = tools.running(view.actor, environment) if environment.workload_id else {}
    names = (program.JUPYTER, program.VSCODE, program.TENSORBOARD)
    return {name: bool(_mapping(found.get(name)).get("running")) for name in names}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class TensorBoard(EnvironmentView):
    @extend_schema(request=s.FolderSerializer, responses=s.ServicesSerializer)
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Show the logs of a folder, instead of the one shown so far."""
        asked = s.FolderSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        environment = self.environment()
        tools.start_tensorboard(self.actor, environment, folder=asked.validated_data["folder"])
        return Response(services_of(self, environment))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, environment_id: UUID) -> Response:
        """End TensorBoard."""
        tools.stop(self.actor, self.environment(), program.TENSORBOARD)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Metrics(EnvironmentView):
    access = VIEW

    @extend_schema(
        parameters=[OpenApiParameter("since", float, description="Only points after this time, in Unix seconds.")],
        responses=s.PointsSerializer(many=True),
    )
    def get(self, request: Request, environment_id: UUID, name: str) -> Response:
        """Measurements of the newest start: cpu, memory, gpu, gpu_memory."""
        try:
            since = float(request.query_params.get("since", 0))
        except ValueError as error:
            raise Invalid.field("since", "A number of seconds is needed.") from error
        workload = self.environment().workload
        series = series_of(workload, name, since) if workload else None
        if series is None:
            raise NotFound
        return Response(s.PointsSerializer(series, many=True).data)


class Fit(EnvironmentView):
    access = VIEW

    @extend_schema(responses=FitSerializer)
    def get(self, request: Request, environment_id: UUID) -> Response:
        """What its newest start used at most, and which smaller package on offer would have done, in money."""
        workload = self.environment().workload
        if workload is None:
            raise NotFound
        fit = fit_of(self.actor, workload, workloads.attempts(workload))
        return Response(FitSerializer(fit, context={"simulated": workload.simulated}).data)


class SaveImage(EnvironmentView):
    access = IMAGES

    @extend_schema(request=s.SaveImageSerializer, responses={201: s.PersonalImageSerializer, 202: SavingOut})
    def post(self, request: Request, environment_id: UUID) -> Response:
        """A personal image: the environment's image with what was installed by pip on top.

        One in a container image becomes a version in the registry (202); `/images/savings/{id}/` tells how far that is.
        """
        asked = s.SaveImageSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given, environment = asked.validated_data, self.environment()
        if images.goes_into_registry(environment):
            if given.pop("shared"):
                raise Invalid.field("shared", _("Share the repository instead, once it is there."))
            new = NewSaving(key=uuid4().hex, **given)
            saving = images.save_in_registry(self.actor, environment, new)
            return Response(SavingOut(saving).data, status=status.HTTP_202_ACCEPTED)
        if given["tag"] or given["of_organisation"]:
            raise Invalid.field("tag", _("Only an environment in a container image becomes an image in the registry."))
        image = images.save(self.actor, environment, name=given["name"], shared=given["shared"])
        return Response(s.PersonalImageSerializer(image).data, status=status.HTTP_201_CREATED)


class PersonalImages(ScopedView, generics.ListAPIView[Image]):
    """The actor's own images, newest first."""

    access = IMAGES
    serializer_class = s.PersonalImageSerializer
    pagination_class = CreatedCursor
    queryset = Image.objects.none()  # for the schema, which is drawn without an actor

    def get_queryset(self) -> QuerySet[Image]:
        return registry.own_images(self.actor)


class PersonalImage(ScopedView):
    access = IMAGES

    @extend_schema(request=s.SharedSerializer, responses=s.PersonalImageSerializer)
    def patch(self, request: Request, image_id: UUID) -> Response:
        """Share it with everybody in the organisation, or with nobody any more."""
        asked = s.SharedSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        image = personal.get_own(self.actor, image_id)
        personal.share(self.actor, image, shared=asked.validated_data["shared"])
        image.refresh_from_db()
        return Response(s.PersonalImageSerializer(image).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, image_id: UUID) -> Response:
        """Out of the picker; what uses it goes on with it."""
        personal.remove(self.actor, personal.get_own(self.actor, image_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
