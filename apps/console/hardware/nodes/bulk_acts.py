"""Acts on several nodes."""

from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.clusters import services
from apps.common.actor import Actor
from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.console.hardware.nodes.listing import NodeFilter
from apps.console.hardware.nodes.selectors import nodes


def _cordon(actor: Actor, row: Any, *, cordoned: bool) -> None:
    services.cordon(actor, node_id=row.pk, cordoned=cordoned)


def _node(row: Any) -> str:
    return f"{row.name} · {row.cluster.zone.name}"


NODES = BulkList(
    route="console:nodes_bulk",
    back="console:nodes",
    acts=(
        BulkAct(
            name="cordon",
            label=_("Cordon"),
            icon="ban",
            permission=P.PLATFORM_NODES_MANAGE,
            title=ngettext_lazy("Cordon %(count)s node?", "Cordon %(count)s nodes?", "count"),
            done=ngettext_lazy("%(count)s node takes no new work.", "%(count)s nodes take no new work.", "count"),
            do=partial(_cordon, cordoned=True),
            lost=_("Nothing new starts on them"),
            kept=_("What runs on them goes on"),
            undo=_("Uncordon them"),
        ),
        BulkAct(
            name="uncordon",
            label=_("Uncordon"),
            icon="check",
            permission=P.PLATFORM_NODES_MANAGE,
            title=ngettext_lazy("Uncordon %(count)s node?", "Uncordon %(count)s nodes?", "count"),
            done=ngettext_lazy("%(count)s node takes work again.", "%(count)s nodes take work again.", "count"),
            do=partial(_cordon, cordoned=False),
            undo=_("Cordon them again"),
        ),
    ),
    rows=lambda actor, asked: nodes(actor),
    filters=NodeFilter,
    named=_node,
)
