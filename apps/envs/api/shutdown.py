"""/api/v1/environments/<id>/shutdown/: when it is to stop."""

from typing import Any
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.envs.api.environments import USE, VIEW, EnvironmentView
from apps.envs.models import Environment
from apps.envs.services.shutdown import set_shutdown
from apps.envs.shutdown_times import LONGEST_ZONE, Shutdown
from apps.workloads.run_times import LEAST_S, MOST_S


class ShutdownSerializer(serializers.Serializer[Any]):
    """Either `at`, a time of day in `zone`, once or `daily`; or in `in_s` seconds."""

    at = serializers.TimeField(required=False, allow_null=True, format="%H:%M", input_formats=["%H:%M"])
    in_s = serializers.IntegerField(required=False, allow_null=True, min_value=LEAST_S, max_value=MOST_S)
    daily = serializers.BooleanField(default=False)
    zone = serializers.CharField(
        max_length=LONGEST_ZONE, default=settings.TIME_ZONE, help_text="An IANA name, such as Asia/Shanghai."
    )

    def as_shutdown(self) -> Shutdown:
        """The serializer must be valid."""
        data = self.validated_data
        return Shutdown(data["zone"], data.get("at"), data.get("in_s"), data["daily"])


class NextShutdownSerializer(serializers.Serializer[Any]):
    """`shutdown_at`: the next moment; null: none. `at`: the time of day in `zone`, where it is one of every day."""

    shutdown_at = serializers.DateTimeField(allow_null=True)
    daily = serializers.SerializerMethodField()
    at = serializers.TimeField(source="shutdown_time", format="%H:%M", allow_null=True)
    zone = serializers.CharField(source="shutdown_zone")

    def get_daily(self, row: Environment) -> bool:
        return row.shutdown_time is not None


class ShutdownView(EnvironmentView):
    access = {"get": VIEW, "put": USE, "delete": USE}

    @extend_schema(responses=NextShutdownSerializer)
    def get(self, request: Request, environment_id: UUID) -> Response:
        """When it is saved and stopped."""
        return self.next()

    @extend_schema(request=ShutdownSerializer, responses=NextShutdownSerializer)
    def put(self, request: Request, environment_id: UUID) -> Response:
        """Save and stop it then; a time that was set before is replaced. 409 in the recycle bin."""
        environment = self.environment()
        asked = ShutdownSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        set_shutdown(self.actor, environment, asked.as_shutdown())
        return self.next()

    @extend_schema(responses={204: None})
    def delete(self, request: Request, environment_id: UUID) -> Response:
        """Not at a set time any more."""
        set_shutdown(self.actor, self.environment(), None)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def next(self) -> Response:
        return Response(NextShutdownSerializer(self.environment()).data)
