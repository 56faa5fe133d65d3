"""One set of replicas in the API of a kind that has them: seen, scaled, ended."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.workloads.replicas import selectors, services
from apps.workloads.replicas.serializers import ReplicaSetSerializer, ScaleSerializer, set_data


class ReplicaSetView(ScopedView):
    """A kind derives its own, with the `access` of each method."""

    @extend_schema(responses=ReplicaSetSerializer)
    def get(self, request: Request, set_id: UUID) -> Response:
        """Its replicas, and how many of them serve."""
        return Response(set_data(selectors.get(self.actor, set_id)))

    @extend_schema(request=ScaleSerializer, responses=ReplicaSetSerializer)
    def patch(self, request: Request, set_id: UUID) -> Response:
        """Scale it. 402 or 409 where money or quota does not suffice, which changes nothing; 409 once it is ending."""
        asked = ScaleSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found = services.scale(self.actor, selectors.get(self.actor, set_id).pk, asked.validated_data["replicas"])
        return Response(set_data(found))

    @extend_schema(responses={202: ReplicaSetSerializer})
    def delete(self, request: Request, set_id: UUID) -> Response:
        """Stop all of them for good. 409 once they have ended."""
        found = services.stop(self.actor, selectors.get(self.actor, set_id).pk)
        return Response(set_data(found), status=status.HTTP_202_ACCEPTED)
