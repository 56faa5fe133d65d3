"""/api/v1/console/nodes/{id}/trust/: let a node take work that the platform closed because it lost some."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import services
from apps.common.access import on_platform
from apps.common.permissions import Permission as P
from apps.console.hardware.nodes.api import NODES, NodeDetail, NodeOut


@extend_schema(tags=[NODES], request=None, responses=NodeOut)
class NodeTrust(NodeDetail):
    access = on_platform(P.PLATFORM_NODES_MANAGE)
    http_method_names = ["post", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        """The node takes work again. 409 for one that takes any, and for one that only a check-up can open."""
        services.trust(self.actor, node_id=node_id)
        return Response(self.shown(node_id))
