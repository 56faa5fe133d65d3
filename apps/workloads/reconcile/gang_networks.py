"""Networks of gangs that are on several machines: which nodes may be joined, and which number a gang's network has."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Q

from apps.clusters.models import Node
from apps.workloads.drivers.overlay import Ability, Overlay, free_number
from apps.workloads.models import Attempt, Member


def ability(node: Node) -> Ability:
    """What the node said of itself; nothing for nodes without our agent."""
    return Ability.from_json(node.gang_network)


def is_joined(node: Node) -> bool:
    """Whether members of a gang there reach others on further nodes of its zone. Simulated ones have to reach nobody.

    The node comes with its cluster and zone.
    """
    zone = node.cluster.zone
    return zone.simulated or (zone.trusted_network and ability(node).joins)


def number_for(nodes: Collection[UUID]) -> int | None:
    """A number for the network of a gang on these nodes; None where it is on one, or no number is left.

    Numbers go round, and one of an attempt that was given up stays taken until its machine proves that it is gone: the
    interface may still be there. Call within a pass, of which there is one at a time.
    """
    real = Node.objects.filter(pk__in=nodes, cluster__zone__simulated=False)
    if len(set(nodes)) < 2 or not real.exists():
        return None
    numbered = Attempt.objects.filter(network_number__isnull=False)
    live = Q(ended_at__isnull=True) | Q(given_up_at__isnull=False, gone_at__isnull=True)
    last = numbered.order_by("-placed_at", "-network_number").values_list("network_number", flat=True).first()
    taken = numbered.filter(live).values_list("network_number", flat=True)
    return free_number({number for number in taken if number is not None}, last or 0)


def overlay_of(attempt: Attempt, members: Sequence[Member]) -> Overlay | None:
    """What joins the members, by rank and with their nodes; None where nothing has to."""
    if attempt.network_number is None:
        return None
    return Overlay(attempt.network_number, tuple(ability(member.node).address for member in members))
