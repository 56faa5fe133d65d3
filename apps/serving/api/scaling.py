"""That a service follows its load."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.errors import NotFound
from apps.serving import serializers as s
from apps.serving.api.services import USE, VIEW, ServiceView
from apps.serving.scaling import bounds


class ServiceScaling(ServiceView):
    access = {"get": VIEW, "put": USE, "delete": USE}

    @extend_schema(responses=s.ServiceScalingSerializer)
    def get(self, request: Request, service_id: UUID) -> Response:
        """Between how many replicas it follows the load. 404 where it has a fixed number."""
        found = bounds.of(self.service())
        if found is None:
            raise NotFound
        return Response(s.ServiceScalingSerializer(found).data)

    @extend_schema(request=s.ServiceScalingSerializer, responses=s.ServiceScalingSerializer)
    def put(self, request: Request, service_id: UUID) -> Response:
        """Let it follow the load from now on: more replicas at once, fewer once fewer have sufficed for a while."""
        asked = s.ServiceScalingSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        bounds.follow(self.actor, self.service().pk, asked.bounds())
        return self.get(request, service_id)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, service_id: UUID) -> Response:
        """Keep the number that it has. 409 where it is fixed already."""
        bounds.unfollow(self.actor, self.service().pk)
        return Response(status=status.HTTP_204_NO_CONTENT)
