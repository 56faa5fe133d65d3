"""What a node can do for gangs over several machines: its card on the page, and its part of the API's answer."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.clusters.models import Node
from apps.workloads.reconcile import gang_networks
from apps.workloads.words import sentence


@dataclass(frozen=True, slots=True)
class GangNetwork:
    """`kinds`: what its kernel can make. `reasons`: why not more, in the reader's language."""

    kinds: list[str]
    address: str
    joined: bool
    reasons: list[str]
    title: str
    text: str
    tone: str


def gang_network(node: Node) -> GangNetwork:
    """The node comes with its cluster and zone."""
    found, joined = gang_networks.ability(node), gang_networks.is_joined(node)
    if joined:
        title = _("Joined with other nodes")
        text = _("Gangs may span this node and other joined nodes of its zone, over a VXLAN of their own.")
    elif found.joins:
        title = _("Not joined: the zone's network is not trusted")
        text = _("A VXLAN is not encrypted. Say on the zone's page if the network between its nodes is trusted.")
    else:
        title = _("Not joined")
        text = _("A gang runs here with all its members or not at all.")
    reasons = [sentence(said) for said in found.said]
    if not found.kinds and not reasons:
        reasons.append(_("Nodes without an agent, or with an older one, take no part in gangs over machines."))
    # Where nobody wants gangs over machines, a node without them lacks nothing.
    tone = "warn" if node.cluster.zone.trusted_network and not joined else ""
    return GangNetwork(sorted(found.kinds), found.address, joined, reasons, title, text, tone)


class GangNetworkOut(serializers.Serializer[GangNetwork]):
    kinds = serializers.ListField(
        child=serializers.CharField(), help_text="Networks that the node's kernel can make: vxlan, wireguard."
    )
    address = serializers.CharField(help_text="The node's own on the network between the nodes; empty: unknown.")
    joined = serializers.BooleanField(help_text="Whether gangs may span this node and other joined ones of its zone.")
    reasons = serializers.ListField(child=serializers.CharField(), help_text="Why it can do no more.")
