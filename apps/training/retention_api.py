"""/api/v1/training/runs/<id>/archive/ and deletion/: put a run out of sight, or delete it for good."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.training import archiving, deletion
from apps.training.api import SUBMIT, RunView, run_detail
from apps.training.models import Run
from apps.training.serializers import RunDetailSerializer


class UseSerializer(serializers.Serializer[deletion.Use]):
    """What needs the run: it has to end before."""

    kind = serializers.CharField()
    name = serializers.CharField()


class KeepingRunSerializer(serializers.Serializer[Run]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    version = serializers.IntegerField()


class DeletionSerializer(serializers.Serializer[deletion.Deletion]):
    """What would follow. `size` in bytes, at least where it is not `complete`; `uses` stand in the way.

    `code_users` keep the code, `continued_by` their copies of its checkpoints.
    """

    uses = UseSerializer(many=True)
    size = serializers.IntegerField()
    complete = serializers.BooleanField()
    code_users = KeepingRunSerializer(many=True)
    continued_by = KeepingRunSerializer(many=True)


class RunArchive(RunView):
    access = SUBMIT

    @extend_schema(request=None, responses=RunDetailSerializer)
    def put(self, request: Request, **kwargs: Any) -> Response:
        """Put an ended run into the archive: lists show it where `archived` asks for it. 409 while it lives."""
        archiving.archive(self.actor, self.run())
        return Response(run_detail(self.run()))

    @extend_schema(request=None, responses={200: RunDetailSerializer})
    def delete(self, request: Request, **kwargs: Any) -> Response:
        """Take it out of the archive."""
        archiving.unarchive(self.actor, self.run())
        return Response(run_detail(self.run()))


class RunDeletion(RunView):
    access = SUBMIT

    @extend_schema(responses=DeletionSerializer)
    def get(self, request: Request, **kwargs: Any) -> Response:
        """What would be lost, kept and freed, and what is in the way."""
        return Response(DeletionSerializer(deletion.deletion_of(self.actor, self.run())).data)

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, **kwargs: Any) -> Response:
        """Delete an ended run for good: output, checkpoints, log. 409 while it lives or something needs it."""
        deletion.delete(self.actor, self.run())
        return Response(status=status.HTTP_204_NO_CONTENT)
