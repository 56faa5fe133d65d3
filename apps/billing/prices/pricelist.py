"""The price of a package's resources by the price list: pure, exact."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from apps.billing.choices import SLICED_BY_MEMORY, GpuMode, UnitItem

# Rates are stored with ten places of a fen.
QUANTUM = Decimal("1e-10")


class Unit(NamedTuple):
    """What one price of the list is for. `gpu_model` empty: any model without a price of its own."""

    item: UnitItem
    gpu_model: str = ""
    gpu_mode: str = ""
    mig_profile: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """Of one replica: milli-cores, MiB, cards or slices, milli-cards of compute and MiB of GPU memory of each."""

    cpu_milli: int
    memory_mib: int
    gpu_count: int = 0
    gpu_model: str = ""
    gpu_mode: str = ""
    gpu_core_milli: int = 0
    gpu_memory_mib: int = 0
    mig_profile: str = ""
    rdma: bool = False


@dataclass(frozen=True, slots=True)
class PriceLine:
    """`quantity` units at `rate` fen per hour each; `number` is the version of the unit's price."""

    unit: Unit
    quantity: Decimal
    rate: Decimal
    number: int

    @property
    def amount(self) -> Decimal:
        """Fen per hour, exact."""
        return self.quantity * self.rate

    def as_json(self) -> dict[str, Any]:
        words = {"quantity": f"{self.quantity:f}", "rate": f"{self.rate:f}", "number": self.number}
        return {**self.unit._asdict(), **words}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PriceLine":
        unit = Unit(UnitItem(data["item"]), data["gpu_model"], data["gpu_mode"], data["mig_profile"])
        return cls(unit, Decimal(data["quantity"]), Decimal(data["rate"]), data["number"])


@dataclass(frozen=True, slots=True)
class ListPrice:
    """A package's price by the list; `missing` are the units that the list has no price for."""

    lines: tuple[PriceLine, ...]
    missing: tuple[Unit, ...]

    @property
    def rate(self) -> Decimal:
        """Fen per hour of one replica, to ten places, half up."""
        return sum((line.amount for line in self.lines), Decimal(0)).quantize(QUANTUM, ROUND_HALF_UP)

    @property
    def complete(self) -> bool:
        return not self.missing


def price_of(resources: Resources, prices: Mapping[Unit, tuple[Decimal, int]]) -> ListPrice:
    """`prices`: fen per hour and version of each unit on the list. Prices of the model go before those of any model.

    A slice of a card may be priced by its compute, by its memory or by both: one of the two is enough. RDMA costs
    nothing unless it has a price.
    """
    lines, missing = [], []
    for wanted in _wanted(resources):
        found = [(_on_list(unit, prices), quantity) for unit, quantity in wanted]
        priced = [PriceLine(unit, quantity, *prices[unit]) for unit, quantity in found if unit is not None]
        lines += priced
        missing += [] if priced else [unit for unit, _quantity in wanted if unit.item is not UnitItem.RDMA]
    return ListPrice(tuple(lines), tuple(missing))


def _wanted(resources: Resources) -> Iterable[list[tuple[Unit, Decimal]]]:
    """Groups of units with their quantities; of each group one must have a price."""
    yield [(Unit(UnitItem.CPU), Decimal(resources.cpu_milli) / 1000)]
    yield [(Unit(UnitItem.MEMORY), Decimal(resources.memory_mib) / 1024)]
    if resources.gpu_count:
        yield list(_cards(resources))
    if resources.rdma:
        yield [(Unit(UnitItem.RDMA), Decimal(1))]


def _cards(resources: Resources) -> Iterable[tuple[Unit, Decimal]]:
    model, mode, count = resources.gpu_model, resources.gpu_mode, Decimal(resources.gpu_count)
    if mode not in SLICED_BY_MEMORY:
        profile = resources.mig_profile if mode == GpuMode.MIG else ""
        yield Unit(UnitItem.GPU, model, mode, profile), count
        return
    if resources.gpu_core_milli:
        yield Unit(UnitItem.GPU, model, mode), count * resources.gpu_core_milli / 1000
    yield Unit(UnitItem.GPU_MEMORY, model, mode), count * resources.gpu_memory_mib / 1024


def _on_list(unit: Unit, prices: Mapping[Unit, Any]) -> Unit | None:
    return next((each for each in (unit, unit._replace(gpu_model="")) if each in prices), None)
