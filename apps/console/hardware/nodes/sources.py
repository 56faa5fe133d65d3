"""What a node reaches of where software is downloaded from: the rows of its card, and the endpoint."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters.models import Node
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.workloads.drivers.capabilities import Probe
from apps.workloads.hardware import sources
from apps.workloads.words import sentence

VIEW, MANAGE = on_platform(P.PLATFORM_NODES_VIEW), on_platform(P.PLATFORM_NODES_MANAGE)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """An address from which pip or npm download. `problems`: in the reader's language; none where it is well."""

    kind: str
    url: str
    milliseconds: int
    problems: list[str]
    unreachable: bool
    """For the platform itself as well, and not for programs in sandboxes alone."""


@dataclass(frozen=True, slots=True)
class SourceRows:
    at: datetime
    rows: list[SourceRow]

    @property
    def is_well(self) -> bool:
        return not any(row.problems for row in self.rows)


def source_rows(node: Node) -> SourceRows | None:
    """None before the node was asked."""
    found = sources.finding(node)
    return SourceRows(found.at, [_source_row(each) for each in found.probes]) if found else None


def _source_row(probe: Probe) -> SourceRow:
    problems = [sentence(said) for said in (probe.said, probe.refused) if said]
    return SourceRow(probe.kind, probe.url, round(probe.seconds * 1000), problems, probe.said is not None)


class NodeSourceOut(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="pip or npm.")
    url = serializers.CharField()
    milliseconds = serializers.IntegerField()
    problems = serializers.ListField(child=serializers.CharField(), help_text="None where packages can be had.")


class NodeSourcesOut(serializers.Serializer[Any]):
    """`at`: when the node was last asked; null before. Empty `rows` then, and for simulated nodes."""

    at = serializers.DateTimeField(allow_null=True)
    rows = NodeSourceOut(many=True)


@extend_schema(tags=["console: nodes"], responses=NodeSourcesOut)
class NodeSources(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    def get(self, request: Request, node_id: UUID) -> Response:
        """Whether work on the node reaches where pip and npm download from."""
        return Response(self._shown(clusters.node(self.actor, node_id)))

    @extend_schema(request=None, responses={202: NodeSourcesOut})
    def post(self, request: Request, node_id: UUID) -> Response:
        """Ask again, within a minute."""
        return Response(self._shown(sources.ask_again(self.actor, node_id=node_id)), status=202)

    def _shown(self, node: Node) -> Any:
        found = source_rows(node)
        return NodeSourcesOut({"at": found.at if found else None, "rows": found.rows if found else []}).data
