"""/api/v1/training/runs/<id>/cap/: the most that a run may cost."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.caps.selectors import Cap, cap_of, spent_fen
from apps.common.api import ScopedView
from apps.training import selectors
from apps.training.api import SUBMIT, VIEW
from apps.training.models import Run
from apps.workloads.services import set_cap


class CapSerializer(serializers.Serializer[Any]):
    """The most that the run may cost in all; null: without a cap. `spent_fen` counts what is not charged yet too."""

    limit_fen = serializers.IntegerField(allow_null=True, min_value=1, max_value=2**53)
    spent_fen = serializers.DecimalField(max_digits=30, decimal_places=10, read_only=True)
    reached_at = serializers.DateTimeField(read_only=True, allow_null=True)


def _answer(run: Run) -> Response:
    cap = cap_of(run.workload_id) or Cap(None, spent_fen(run.workload_id), None)
    return Response(CapSerializer(cap).data)


class RunCap(ScopedView):
    access = {"get": VIEW, "put": SUBMIT}

    @extend_schema(responses=CapSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Its spending cap and what it has cost of it."""
        return _answer(selectors.get(self.actor, run_id))

    @extend_schema(request=CapSerializer, responses=CapSerializer)
    def put(self, request: Request, run_id: UUID) -> Response:
        """Set, raise or (null) remove the cap. 409 once it is ending; 400 for less than it has cost and ten minutes."""
        run = selectors.get(self.actor, run_id)
        given = CapSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        set_cap(self.actor, run.workload, given.validated_data["limit_fen"])
        return _answer(run)
