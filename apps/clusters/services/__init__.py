from apps.clusters.services.discovery import first_cluster, measured, write_cards, write_found, write_sample
from apps.clusters.services.joining import Joining, beat, join, make_token, revoke_tokens, secret_of
from apps.clusters.services.nodes import cordon, locked_node, set_labels, target
from apps.clusters.services.simulation import add_simulated_zone, offer_packages, set_billed
from apps.clusters.services.zones import (
    create_cluster,
    create_zone,
    delete_cluster,
    delete_zone,
    locked_zone,
    rename_cluster,
    rename_zone,
)

__all__ = [
    "Joining",
    "add_simulated_zone",
    "beat",
    "cordon",
    "create_cluster",
    "create_zone",
    "delete_cluster",
    "delete_zone",
    "first_cluster",
    "join",
    "locked_node",
    "locked_zone",
    "make_token",
    "measured",
    "offer_packages",
    "rename_cluster",
    "rename_zone",
    "revoke_tokens",
    "secret_of",
    "set_billed",
    "set_labels",
    "target",
    "write_cards",
    "write_found",
    "write_sample",
]
