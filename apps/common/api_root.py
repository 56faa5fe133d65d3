"""/api/ and /api/v1/: links to the description of everything else."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import PUBLIC
from apps.common.api import ScopedView


@extend_schema(exclude=True)
class ApiRoot(ScopedView):
    access = PUBLIC

    def get(self, request: Request) -> Response:
        paths = {"version_1": "/api/v1/", "documentation": "/api/docs/", "openapi": "/api/schema/", "me": "/api/v1/me/"}
        return Response({name: request.build_absolute_uri(path) for name, path in paths.items()})
