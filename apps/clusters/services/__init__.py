from apps.clusters.services.audience import give_cluster, reserve_cluster, withdraw_cluster
from apps.clusters.services.card_health import confirm_reset
from apps.clusters.services.discovery import first_cluster, measured_columns, upsert_machine, write_cards, write_sample
from apps.clusters.services.joining import JoinRequest, join, make_token, record_heartbeat, revoke_tokens, secret_of
from apps.clusters.services.nodes import cordon, locked_node, set_labels, target
from apps.clusters.services.quarantine import lift, quarantine, trust
from apps.clusters.services.simulation import add_simulated_zone, offer_packages, set_billed
from apps.clusters.services.zone_storage import MOST_CACHE_GIB as MOST_CACHE_GIB
from apps.clusters.services.zone_storage import set_zone_storage
from apps.clusters.services.zones import (
    create_cluster,
    create_zone,
    delete_cluster,
    delete_zone,
    locked_zone,
    rename_cluster,
    rename_zone,
    set_trusted_network,
)

__all__ = [
    "JoinRequest",
    "add_simulated_zone",
    "confirm_reset",
    "cordon",
    "create_cluster",
    "create_zone",
    "delete_cluster",
    "delete_zone",
    "first_cluster",
    "give_cluster",
    "join",
    "lift",
    "locked_node",
    "locked_zone",
    "make_token",
    "measured_columns",
    "offer_packages",
    "quarantine",
    "record_heartbeat",
    "rename_cluster",
    "rename_zone",
    "reserve_cluster",
    "revoke_tokens",
    "secret_of",
    "set_billed",
    "set_labels",
    "set_trusted_network",
    "set_zone_storage",
    "target",
    "trust",
    "upsert_machine",
    "withdraw_cluster",
    "write_cards",
    "write_sample",
]
