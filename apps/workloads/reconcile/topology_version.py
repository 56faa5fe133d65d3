"""Whether anything about the nodes of a world has changed: one number instead of reading them all."""

from datetime import datetime

from django.db import connection
from django.db.models import Model

from apps.clusters.models import Accelerator, Node
from apps.workloads.reconcile.snapshot import SILENCE

# Measurements say nothing about what may be placed; what is added to the tables later counts until it is named here.
CARD_MEASURES = frozenset({"last_seen_at", "utilisation_pct", "memory_used_mib", "temperature_c", "power_w"})
NODE_MEASURES = frozenset(
    {
        "last_seen_at",
        "disk_mib",
        "disk_free_mib",
        "disk_files",
        "disk_files_free",
        "disk_low_since",
        "dataset_cache",
        "storage_probe",
        "storage_lost_since",
        "facts",
        "silent_since",
        "created_at",
        "isolation_reason",
    }
    | {"address", "certificate", "sealed_secret", "joins", "machine_id"}
    | {"silent_for", "listened_at", "lost_by", "switched_off", "quarantine_changed_at", "quarantine_about"}
    | {"losses"}
)

_HERE = """
    FROM clusters_node node
    JOIN clusters_logicalcluster cluster ON cluster.id = node.cluster_id
    JOIN clusters_zone zone ON zone.id = cluster.zone_id
    {join} WHERE node.removed_at IS NULL AND zone.simulated = %s
"""


def digest(now: datetime, simulated: bool) -> str:
    """The same as long as `snapshot.nodes` would say the same. Sums of hashes: the order of rows is of no matter."""
    own = _columns(Node, "node", NODE_MEASURES)
    nodes = f"concat_ws('|', {own}, cluster.reserved, zone.id, zone.trusted_network, node.last_seen_at > %s)"
    cards = f"concat_ws('|', {_columns(Accelerator, 'card', CARD_MEASURES)})"
    of_cards = _sum("cards", cards, "JOIN clusters_accelerator card ON card.node_id = node.id")
    with connection.cursor() as cursor:
        cursor.execute(f"{_sum('nodes', nodes, '')} UNION ALL {of_cards}", [now - SILENCE, simulated, simulated])
        return repr(sorted(cursor.fetchall()))


def _sum(what: str, row: str, join: str) -> str:
    total = f"SELECT '{what}', count(*), sum(hashtextextended({row}, 0)::numeric)::text"
    return total + _HERE.format(join=join)


def _columns(model: type[Model], alias: str, measures: frozenset[str]) -> str:
    """Names from the code alone, so there is nothing to quote. A null is told from an empty text."""
    names = [field.column for field in model._meta.concrete_fields if field.name not in measures]
    return ", ".join(f"COALESCE({alias}.{name}::text, '-')" for name in names)
