"""A node's RDMA devices: their card on its page, and their part of the API's answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.clusters.discovery import LOCKED_MEMORY
from apps.clusters.models import Accelerator, Node
from apps.clusters.node_rdma import rdma_devices
from apps.clusters.rdma import INFINIBAND, RdmaDevice, fabric_of

UNKNOWN = "—"


@dataclass(frozen=True, slots=True)
class RdmaRow:
    """`links`: to each card, as in the rows of the cards."""

    device: RdmaDevice
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RdmaCard:
    """`title`, `text`: what work that asks for RDMA finds here. `hints`: what an operator can mend, and by what."""

    rows: list[RdmaRow]
    fabric: str
    active: bool
    title: str
    text: str
    tone: str
    hints: list[str]


def rdma_card(node: Node, cards: Sequence[Accelerator] = ()) -> RdmaCard | None:
    """None for a node without such devices."""
    devices = rdma_devices(node)
    if not devices:
        return None
    rows = [RdmaRow(one, tuple(dict(one.links).get(card.uuid, UNKNOWN) for card in cards)) for one in devices]
    fabric = fabric_of(devices)
    title, text, tone = _words(devices)
    return RdmaCard(rows, fabric.name, fabric.is_active, title, text, tone, list(_hints(node, devices)))


def _words(devices: Sequence[RdmaDevice]) -> tuple[str, str, str]:
    fabric = fabric_of(devices)
    if fabric.is_active:
        text = _(
            "Packages with RDMA start here and are given %(names)s. Members of a gang share the fabric %(fabric)s."
        )
        names = ", ".join(device.name for device in fabric.devices)
        return _("Given to work that asks for RDMA"), text % {"names": names, "fabric": fabric.name}, ""
    if fabric.name:
        text = _("No new work that asks for RDMA starts here until a link is up. What runs here goes on.")
        return _("Every link is down"), text, "warn"
    return _("Not given out"), _("Work that asks for RDMA does not start here."), ""


def _hints(node: Node, devices: Sequence[RdmaDevice]) -> list[str]:
    found = []
    infiniband = [one for one in devices if any(port.layer == INFINIBAND for port in one.ports)]
    if len(infiniband) < len(devices):
        found.append(
            _(
                "RoCE adapters are shown only: their addresses belong to a network interface of the machine, which "
                "sandboxes with a network of their own do not have."
            )
        )
    if any(not one.shared for one in infiniband):
        found.append(
            _("The kernel keeps the adapters in the machine's own network. As root: %(command)s")
            % {"command": "rdma system set netns shared"}
        )
    if any(not one.verbs for one in infiniband):
        found.append(
            _("An adapter has no device node for programs. As root: %(command)s") % {"command": "modprobe ib_uverbs"}
        )
    if limit := node.facts.get(LOCKED_MEMORY):
        found.append(
            _(
                "Programs may lock only %(limit)s of memory here, and RDMA locks what it transfers. Start the agent as "
                "root, or with LimitMEMLOCK=infinity in its unit."
            )
            % {"limit": limit}
        )
    return found


class RdmaOut(serializers.Serializer[RdmaCard]):
    fabric = serializers.CharField(help_text="Members of a gang that asks for RDMA share it; empty: none is given out.")
    active = serializers.BooleanField(help_text="Whether a link is up: only then new work that asks for RDMA starts.")
    devices = serializers.SerializerMethodField()
    hints = serializers.ListField(child=serializers.CharField(), help_text="What an operator can mend.")

    def get_devices(self, card: RdmaCard) -> list[str]:
        return [row.device.name for row in card.rows]
