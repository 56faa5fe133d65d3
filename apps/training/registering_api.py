"""/api/v1/training/runs/<id>/model/: register what a run wrote as a version of a model."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.permissions import Permission
from apps.modelhub import selectors as models
from apps.modelhub.serializers import ModelVersionSerializer
from apps.training import registering
from apps.training.api import SUBMIT, RunView


class RegisterSerializer(serializers.Serializer[Any]):
    """A folder or file of the output, empty for all of it; the next version of `model`, or of a new one, `name`."""

    path = serializers.CharField(max_length=1024, required=False, allow_blank=True, default="")
    model = serializers.UUIDField(required=False)
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class RunModel(RunView):
    access = SUBMIT

    @extend_schema(request=RegisterSerializer, responses={202: ModelVersionSerializer})
    def post(self, request: Request, **kwargs: Any) -> Response:
        """Register it; the version is ready when its contents have been copied. 409 while the run lives."""
        self.actor.require(Permission.MODELS_USE)
        asked = RegisterSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        model = models.get_writable(self.actor, data["model"]) if "model" in data else None
        version = registering.register(
            self.actor, self.run(), data["path"], model=model, name=data["name"], note=data["note"]
        )
        return Response(ModelVersionSerializer(version).data, status=status.HTTP_202_ACCEPTED)
