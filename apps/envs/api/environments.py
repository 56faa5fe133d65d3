"""The API of environments: the same services and permissions as the pages."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.envs import selectors
from apps.envs import serializers as s
from apps.envs.models import Environment
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import changing, create, expiry, recycle_bin, running
from apps.envs.tables import EnvironmentFilter
from apps.tenants import settings
from apps.workloads.launching.form import new_key

VIEW = in_organisation(Permission.ENVIRONMENTS_VIEW)
USE = in_organisation(Permission.ENVIRONMENTS_USE)
MAX_KEY = 64
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key again returns the environment made first. At most 64 characters.",
)


class EnvironmentView(ScopedView):
    """Base of everything about one environment, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = USE

    def environment(self) -> Environment:
        return selectors.get(self.actor, self.kwargs["environment_id"])

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        """The environment as it is now."""
        selectors.get(self.actor, self.kwargs["environment_id"])
        row = selectors.in_list(self.actor).get(pk=self.kwargs["environment_id"])
        return Response(s.EnvironmentSerializer(row, context={"now": db_now()}).data, status=code)


class EnvironmentList(ScopedView, generics.ListCreateAPIView[Environment]):
    """Environments: the actor's own, or all of the organisation's for who manages them; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.EnvironmentSerializer
    filterset_class = EnvironmentFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Environment]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Environment.objects.none()
        return selectors.in_list(self.actor)

    def get_serializer_context(self) -> dict[str, Any]:
        drawn = getattr(self, "swagger_fake_view", False)
        return {**super().get_serializer_context(), "now": None if drawn else db_now()}

    @extend_schema(request=s.CreateSerializer, responses={201: s.EnvironmentSerializer}, parameters=[IDEMPOTENCY_KEY])
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make an environment and start it, unless `start` is false; all or nothing."""
        asked = s.CreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        key = request.headers.get("Idempotency-Key", "").strip() or new_key()
        if len(key) > MAX_KEY:
            raise Invalid.field("Idempotency-Key", "An Idempotency-Key has at most 64 characters.")
        usual = settings.get(EnvironmentSettings).idle_minutes or None
        made = create.create(self.actor, asked.as_request(key, idle_minutes=usual))
        row = selectors.in_list(self.actor).get(pk=made.pk)
        return Response(s.EnvironmentSerializer(row, context={"now": db_now()}).data, status=status.HTTP_201_CREATED)


class EnvironmentDetail(EnvironmentView):
    access = {"get": VIEW, "patch": USE, "delete": USE}

    @extend_schema(responses=s.EnvironmentSerializer)
    def get(self, request: Request, environment_id: UUID) -> Response:
        """One environment."""
        return self.answer()

    @extend_schema(request=s.ChangeSerializer, responses=s.EnvironmentSerializer)
    def patch(self, request: Request, environment_id: UUID) -> Response:
        """Change it. 409 where it runs, the change needs a restart, and `restart` does not allow one."""
        asked = s.ChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        changing.change(self.actor, self.environment(), asked.as_change(), restart=asked.validated_data["restart"])
        return self.answer()

    @extend_schema(responses={204: None})
    def delete(self, request: Request, environment_id: UUID) -> Response:
        """Into the recycle bin: what runs is stopped, files and snapshots are kept for some days."""
        recycle_bin.delete(self.actor, self.environment())
        return Response(status=status.HTTP_204_NO_CONTENT)


class Start(EnvironmentView):
    @extend_schema(request=None, responses={202: s.EnvironmentSerializer})
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Start it with its files as they are. One that is queued, starting or running stays as it is."""
        running.start(self.actor, self.environment())
        return self.answer(status.HTTP_202_ACCEPTED)


class Stop(EnvironmentView):
    @extend_schema(request=s.StopSerializer, responses={202: s.EnvironmentSerializer})
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Stop it; with `snapshot`, its files are saved first. 409 where it does not run."""
        asked = s.StopSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        running.stop(self.actor, self.environment(), snapshot=asked.validated_data["snapshot"])
        return self.answer(status.HTTP_202_ACCEPTED)


class Keep(EnvironmentView):
    @extend_schema(request=None, responses=s.EnvironmentSerializer)
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Not idle within the next hour, whatever is measured."""
        running.keep(self.actor, self.environment())
        return self.answer()


class Renew(EnvironmentView):
    @extend_schema(request=s.RenewSerializer, responses=s.EnvironmentSerializer)
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Move its end by one of the durations on offer; null: without an end."""
        asked = s.RenewSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        expiry.renew(self.actor, self.environment(), days=asked.validated_data["duration_days"])
        return self.answer()


class Gpu(EnvironmentView):
    @extend_schema(request=s.GpuSerializer, responses=s.EnvironmentSerializer)
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Go on without the GPU, or attach it again."""
        asked = s.GpuSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        changing.set_gpu(
            self.actor,
            self.environment(),
            attached=data["attached"],
            restart=data["restart"],
            package_id=data.get("cpu_package"),
        )
        return self.answer()


class Restore(EnvironmentView):
    @extend_schema(request=None, responses=s.EnvironmentSerializer)
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Out of the recycle bin."""
        recycle_bin.restore(self.actor, self.environment())
        return self.answer()


class Purge(EnvironmentView):
    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Remove for good what is in the recycle bin: files, snapshots and all."""
        recycle_bin.purge(self.actor, self.environment())
        return Response(status=status.HTTP_204_NO_CONTENT)
