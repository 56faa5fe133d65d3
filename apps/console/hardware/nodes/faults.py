"""Faults of a node's cards: their part of its page and of the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics

from apps.clusters import selectors as clusters
from apps.clusters.fault_words import unread_words
from apps.clusters.models import Accelerator, CardFault, Node
from apps.common.access import on_platform
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.permissions import Permission
from apps.console.hardware.accelerators.fields import CardFaultOut
from apps.console.hardware.accelerators.selectors import faults_shown
from apps.console.kit.api import NewestFirst


@dataclass(frozen=True, slots=True)
class NodeFaults:
    """`unread`: why new ones cannot be seen, in words."""

    rows: list[CardFault]
    unread: str


def node_faults(actor: Actor, node: Node, cards: Sequence[Accelerator]) -> NodeFaults | None:
    """None for a node without cards of NVIDIA's: others do not tell theirs in this way."""
    if node.cluster.zone.simulated or not any(card.vendor == "nvidia" for card in cards):
        return None
    return NodeFaults(faults_shown(actor, node_id=node.pk), unread_words(node.faults_unread))


@extend_schema(tags=["console: nodes"])
class NodeFaultList(ScopedView, generics.ListAPIView[CardFault]):
    """Faults of the node's cards, newest first, those of its former starts among them."""

    access = on_platform(Permission.PLATFORM_NODES_VIEW)
    queryset = CardFault.objects.none()
    serializer_class = CardFaultOut
    pagination_class = NewestFirst

    def get_queryset(self) -> QuerySet[CardFault]:
        node_id: UUID = self.kwargs["node_id"]
        return clusters.card_faults(self.actor, node_id=clusters.node(self.actor, node_id).pk)
