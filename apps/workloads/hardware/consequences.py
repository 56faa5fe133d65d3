"""What switching a card changes for people: the packages that could start on it, before and after."""

from dataclasses import dataclass

from apps.billing.models import Package
from apps.clusters import geometry
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator
from apps.workloads.placing import is_simulated, read_zones

# An idle vGPU card can be given whole, as the scheduler does it.
_WHOLE_ON = (AcceleratorMode.WHOLE, AcceleratorMode.VGPU)


@dataclass(frozen=True, slots=True)
class Change:
    """Packages on offer that start on the card only in the mode it is in, and only in the one asked for."""

    lost: tuple[Package, ...]
    gained: tuple[Package, ...]


def change(card: Accelerator, to: AcceleratorMode) -> Change:
    """`card` with its node's zone."""
    offered = list(Package.objects.filter(active=True, gpu_count__gt=0).order_by("sort", "pk"))
    read_zones(offered)
    here = [package for package in offered if is_simulated(package) == card.node.cluster.zone.simulated]
    now = [package for package in here if serves(card, AcceleratorMode(card.mode), package)]
    then = [package for package in here if serves(card, to, package)]
    return Change(tuple(p for p in now if p not in then), tuple(p for p in then if p not in now))


def serves(card: Accelerator, mode: AcceleratorMode, package: Package) -> bool:
    """Whether the package could start on the card, empty and in this mode."""
    if package.gpu_model not in ("", card.model):
        return False
    if package.gpu_mode == AcceleratorMode.WHOLE:
        return mode in _WHOLE_ON
    if package.gpu_mode != mode:
        return False
    if mode == AcceleratorMode.MIG:
        return package.mig_profile in {profile.name for profile in geometry.profiles(card)}
    return package.gpu_memory_mib <= card.memory_mib
