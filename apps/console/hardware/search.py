"""Zones, nodes and cards, found by name, model or serial number."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.clusters import selectors
from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission

VIEW = Permission.PLATFORM_NODES_VIEW


def _zone(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], "", reverse("console:zone", args=[row["pk"]])


def _node(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{row['cluster__zone__name']} / {row['cluster__name']}"
    return (
        row["name"],
        f"{sub} · {row['address']}" if row["address"] else sub,
        reverse("console:node", args=[row["pk"]]),
    )


def _card(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{row['node__name']} · {row['uuid']}"
    return f"{row['model']} #{row['index']}", sub, reverse("console:node", args=[row["node_id"]])


ZONES = Source(
    name="zones",
    label=_("Zones"),
    icon="map-pin",
    console=VIEW,
    find=Rows(rows=selectors.zones, hit=_zone),
)
NODES = Source(
    name="nodes",
    label=_("Nodes"),
    icon="server",
    console=VIEW,
    find=Rows(
        rows=selectors.nodes,
        hit=_node,
        fields=("name", "address"),
        more=("cluster__name", "cluster__zone__name"),
    ),
)
CARDS = Source(
    name="cards",
    label=_("Accelerators"),
    icon="cpu",
    console=VIEW,
    find=Rows(
        rows=selectors.cards, hit=_card, fields=("model", "uuid"), more=("index", "node_id", "node__name"), newest="pk"
    ),
)
