"""Units of the price list, and what it makes of a package, in words."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.billing.choices import GpuMode, UnitItem
from apps.billing.models import Package, PriceVersion
from apps.billing.prices.pricelist import ListPrice, PriceLine, Unit
from apps.billing.prices.units.selectors import list_price


@dataclass(frozen=True, slots=True)
class PackagePrice:
    """What a package costs by the list now: `price` as the list makes it, `missing` in words."""

    price: ListPrice
    missing: tuple[str, ...]
    follows: bool


def made_of(package: Package) -> PackagePrice:
    price = list_price(package)
    return PackagePrice(price, tuple(unit_words(unit) for unit in price.missing), package.follows_list)


def lines_of(version: PriceVersion) -> list[PriceLine]:
    """How the list made a version up; nothing for a price that somebody set."""
    return [PriceLine.from_json(line) for line in version.basis or ()]


def unit_words(unit: Unit) -> str:
    """`NVIDIA A100 · MIG 1g.5gb`."""
    if unit.item == UnitItem.CPU:
        return _("CPU")
    if unit.item == UnitItem.MEMORY:
        return pgettext("of a machine", "Memory")
    if unit.item == UnitItem.RDMA:
        return _("RDMA")
    mode = " ".join(filter(None, (str(GpuMode(unit.gpu_mode).label), unit.mig_profile)))
    parts = [unit.gpu_model or _("Any GPU model"), mode]
    return " · ".join([*parts, _("GPU memory")] if unit.item == UnitItem.GPU_MEMORY else parts)


def per_words(unit: Unit) -> str:
    """What one of it is."""
    if unit.item == UnitItem.GPU:
        words = {
            GpuMode.WHOLE: _("a card"),
            GpuMode.MIG: _("an instance"),
            GpuMode.VGPU: _("all compute of a card"),
            GpuMode.SHARED: _("all compute of a card"),
        }
        return words[GpuMode(unit.gpu_mode)]
    if unit.item == UnitItem.RDMA:
        return _("a replica")
    return _("a core") if unit.item == UnitItem.CPU else _("a GiB")
