"""/api/v1/training/arrays/: one run started with several sets of arguments."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.training.api import SUBMIT, VIEW, idempotency_key
from apps.training.arrays import selectors, services
from apps.training.arrays.serializers import ArraySerializer, ArraySubmitSerializer
from apps.training.models import RunArray


def array_detail(array: RunArray) -> Any:
    return ArraySerializer(array, context={"lines": selectors.lines(array)}).data


class ArrayStart(ScopedView):
    access = SUBMIT

    @extend_schema(request=ArraySubmitSerializer, responses={201: ArraySerializer})
    def post(self, request: Request) -> Response:
        """Start a run for each line: all lines are checked first, the first starts, the others follow as quota and
        balance let; or nothing at all."""
        asked = ArraySubmitSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        run, lines, at_once = asked.read(idempotency_key(request))
        array = services.start(self.actor, run, lines, at_once=at_once)
        return Response(array_detail(selectors.get(self.actor, array.pk)), status=status.HTTP_201_CREATED)


class ArrayView(ScopedView):
    """Base of everything about one array, which must be visible to the actor."""

    def array(self, array_id: UUID) -> RunArray:
        return selectors.get(self.actor, array_id)


class ArrayDetail(ArrayView):
    access = VIEW

    @extend_schema(responses=ArraySerializer)
    def get(self, request: Request, array_id: UUID) -> Response:
        """An array with its lines, and how far it is."""
        return Response(array_detail(self.array(array_id)))


class ArrayStop(ArrayView):
    access = SUBMIT

    @extend_schema(request=None, responses=ArraySerializer)
    def post(self, request: Request, array_id: UUID) -> Response:
        """Stop all: what has not started does not, what lives is asked to end. 409 where all have ended."""
        services.stop(self.actor, self.array(array_id))
        return Response(array_detail(self.array(array_id)))


class ArrayRerun(ArrayView):
    access = SUBMIT

    @extend_schema(request=None, responses=ArraySerializer)
    def post(self, request: Request, array_id: UUID) -> Response:
        """Run the failed lines again, each as a new version. 409 where none has failed."""
        services.rerun_failed(self.actor, self.array(array_id))
        return Response(array_detail(self.array(array_id)))
