"""The API of a run's checkpoints."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.training import selectors, services
from apps.training.api import SUBMIT, RunView, idempotency_key, run_detail
from apps.training.checkpoint_serializers import CheckpointSerializer, ContinueSerializer
from apps.training.checkpoints import checkpoints
from apps.training.continuing import checkpoint_start
from apps.training.serializers import RunDetailSerializer


class RunCheckpoints(RunView):
    @extend_schema(responses=CheckpointSerializer(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """What it saved below $PLSTACK_CHECKPOINTS, newest first; empty for a run that saved nothing."""
        return Response(CheckpointSerializer(checkpoints(self.run()), many=True).data)


class RunContinue(RunView):
    access = SUBMIT

    @extend_schema(request=ContinueSerializer, responses={201: RunDetailSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """The same again as the next version, with a copy of a checkpoint in $PLSTACK_CHECKPOINTS, at today's price.

        409 while the run lives; 400 where the checkpoint is gone, was not written to its end, or is too large.
        """
        run = self.run()
        asked = ContinueSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        start = checkpoint_start(asked.validated_data.get("checkpoint"))
        again = services.rerun(self.actor, run, key=idempotency_key(request), start=start)
        return Response(run_detail(selectors.get(self.actor, again.pk)), status=status.HTTP_201_CREATED)
