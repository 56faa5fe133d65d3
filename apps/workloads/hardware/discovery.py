"""The machines that drivers find by themselves, written into rows."""

from django.conf import settings

from apps.clusters import services as clusters
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.workloads.drivers.capabilities import DiscoveryMixin, OwnMachineMixin, PartitionMixin
from apps.workloads.nodes import drivers


def discover(actor: Actor) -> list[Node]:
    """Write what each of them has, and how it isolates work; the platform's own only where it takes any."""
    return [
        clusters.upsert_machine(
            actor,
            driver=name,
            key=found.key,
            machine=found.machine,
            isolation=found.isolation.level.value,
            isolation_reason=found.isolation.column,
        )
        for name, driver in drivers().items()
        if isinstance(driver, DiscoveryMixin)
        and (settings.PLSTACK_LOCAL_NODE or not isinstance(driver, OwnMachineMixin))
        for found in driver.nodes()
    ]


def sweep_partitions() -> None:
    for driver in drivers().values():
        if isinstance(driver, PartitionMixin):
            driver.sweep_partitions()
