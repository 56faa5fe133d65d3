"""/api/v1/console/nodes/<id>/move/: a node goes into another logical cluster of its zone."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.console.hardware.nodes.api import MANAGE, NODES, NodeDetail, NodeOut
from apps.console.kit.api import checked
from apps.workloads.hardware.moving import move_node


class MoveIn(serializers.Serializer[Any]):
    cluster_id = serializers.UUIDField()


@extend_schema(tags=[NODES], request=MoveIn, responses=NodeOut)
class NodeMove(NodeDetail):
    access = MANAGE
    http_method_names = ["post", "options"]

    def post(self, request: Request, node_id: UUID) -> Response:
        """Into another logical cluster of its zone; 409 while work is on the node."""
        move_node(self.actor, node_id=node_id, cluster_id=checked(MoveIn(data=request.data))["cluster_id"])
        return Response(self.shown(node_id))
