"""/api/v1/console/zones/kubernetes/: Kubernetes clusters as zones."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.hardware.zones.api import ZoneOut
from apps.console.kit.api import checked
from apps.workloads.hardware import kubernetes_zones

MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)


class KubernetesZoneIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    kubeconfig = serializers.CharField(
        max_length=kubernetes_zones.MOST_BYTES,
        write_only=True,
        help_text="YAML with everything in it, as `kubectl config view --flatten --raw` prints it.",
    )
    image = serializers.CharField(max_length=300, help_text="Of Python 3.11 or later, with pip and venv.")
    folder = serializers.CharField(
        max_length=300,
        required=False,
        allow_blank=True,
        default="",
        help_text="Where its nodes have the platform's files; empty: at the same path as the platform.",
    )


@extend_schema(tags=["console: zones"])
class KubernetesZones(ScopedView):
    access = MANAGE

    @extend_schema(request=KubernetesZoneIn, responses={201: ZoneOut})
    def post(self, request: Request) -> Response:
        """The cluster is asked before anything is stored. It becomes a zone, and its nodes are found by themselves."""
        zone = kubernetes_zones.add(self.actor, **checked(KubernetesZoneIn(data=request.data)))
        return Response(ZoneOut(clusters.zone(self.actor, zone.pk)).data, status=status.HTTP_201_CREATED)
