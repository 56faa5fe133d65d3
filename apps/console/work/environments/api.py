"""/api/v1/console/environments/: environments of every organisation."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.permissions import Permission as P
from apps.console.kit.api import Named
from apps.envs import selectors
from apps.envs.models import Environment
from apps.envs.serializers import EnvironmentSerializer
from apps.envs.services import recycle_bin, running
from apps.envs.tables import EnvironmentFilter

VIEW = on_platform(P.PLATFORM_WORKLOADS_VIEW)
MANAGE = on_platform(P.PLATFORM_WORKLOADS_MANAGE)


class ConsoleEnvironmentOut(EnvironmentSerializer):
    organisation = Named(read_only=True)

    class Meta(EnvironmentSerializer.Meta):
        fields = (*EnvironmentSerializer.Meta.fields, "organisation")  # type: ignore[assignment]


@extend_schema(tags=["console: environments"])
class Environments(ScopedView, generics.ListAPIView[Environment]):
    """Newest first; `state=binned` for what lies in the recycle bin."""

    access = VIEW
    queryset = Environment.objects.none()
    serializer_class = ConsoleEnvironmentOut
    filterset_class = EnvironmentFilter

    def get_queryset(self) -> QuerySet[Environment]:
        return selectors.in_list(self.actor)

    def get_serializer_context(self) -> dict[str, Any]:
        drawn = getattr(self, "swagger_fake_view", False)
        return {**super().get_serializer_context(), "now": None if drawn else db_now()}


class _Act(ScopedView):
    access = MANAGE

    def environment(self) -> Environment:
        return selectors.get(self.actor, self.kwargs["environment_id"])

    def answer(self) -> Response:
        row = selectors.in_list(self.actor).get(pk=self.kwargs["environment_id"])
        return Response(ConsoleEnvironmentOut(row, context={"now": db_now()}).data)


@extend_schema(tags=["console: environments"], request=None, responses=ConsoleEnvironmentOut)
class EnvironmentStop(_Act):
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Stop what runs of it."""
        running.stop(self.actor, self.environment())
        return self.answer()


@extend_schema(tags=["console: environments"], request=None, responses=ConsoleEnvironmentOut)
class EnvironmentRecycle(_Act):
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Into the recycle bin."""
        recycle_bin.delete(self.actor, self.environment())
        return self.answer()


@extend_schema(tags=["console: environments"], request=None, responses=ConsoleEnvironmentOut)
class EnvironmentRestore(_Act):
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Out of the recycle bin."""
        recycle_bin.restore(self.actor, self.environment())
        return self.answer()


@extend_schema(tags=["console: environments"], request=None, responses={204: None})
class EnvironmentPurge(_Act):
    def post(self, request: Request, environment_id: UUID) -> Response:
        """Remove for good what is in the recycle bin."""
        recycle_bin.purge(self.actor, self.environment())
        return Response(status=status.HTTP_204_NO_CONTENT)
