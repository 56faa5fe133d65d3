"""Where an environment may start, as its settings change: its logical cluster, and the packages that would do."""

from collections.abc import Collection
from typing import Any

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.envs.models import Environment
from apps.envs.services.shared import check_cluster
from apps.workloads.choices import Status
from apps.workloads.offers.package_options import also_named

# What a running program was started with; the rest takes effect at once.
NEEDS_RESTART = frozenset(
    {
        *("image_id", "package_id", "cpu_package_id", "without_gpu", "mounts", "secrets", "ports"),
        *("vscode", "preemptible", "cluster_id"),
    }
)


def needs_restart(row: Environment, changed: Collection[str]) -> bool:
    """Which packages would do matters to what waits, and to the next start of what runs."""
    waits = row.workload is not None and row.workload.status == Status.QUEUED
    return bool(NEEDS_RESTART & set(changed)) or (waits and "also_packages" in changed)


def place_columns(actor: Actor, row: Environment, values: dict[str, Any]) -> dict[str, Any]:
    """Of the new values, those that say where; takes `also_ids` out of them. Raises `Invalid`."""
    if not values.keys() & {"package_id", "cluster_id", "also_ids"}:
        return {}
    package = Package.objects.get(pk=values.get("package_id", row.package_id))
    columns: dict[str, Any] = {"cluster_id": check_cluster(actor, package, values.get("cluster_id", row.cluster_id))}
    if "also_ids" in values:
        columns["also_packages"] = [each.pk for each in also_named(actor, package, values.pop("also_ids"))]
    return columns
