"""Who keeps how much in the registry."""

from dataclasses import dataclass

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry.distribution.capacity import Capacity, capacities
from apps.registry.models import ImageRepository, RegistryCapacity
from apps.tenants.models import Organisation


@dataclass(frozen=True, slots=True)
class CapacityLine:
    organisation: Organisation
    capacity: Capacity

    @property
    def used(self) -> int:
        return self.capacity.used

    @property
    def limit(self) -> int:
        return self.capacity.limit


def capacity_lines(actor: Actor) -> list[CapacityLine]:
    """Organisations that keep something there or have a capacity of their own, who uses the most first."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    ids = set(ImageRepository.objects.values_list("organisation_id", flat=True).distinct())
    ids |= set(RegistryCapacity.objects.values_list("organisation_id", flat=True))
    organisations, found = Organisation.objects.in_bulk(ids), capacities(ids)
    lines = [CapacityLine(row, found[key]) for key, row in organisations.items()]
    return sorted(lines, key=lambda line: (-line.used, line.organisation.name.casefold()))
