"""MIG geometry: which partitions a card may hold and where.

Memory-slice starts and sizes as NVIDIA's driver reports them (nvmlDeviceGetGpuInstancePossiblePlacements); names and
maxima from NVIDIA's MIG User Guide, "Supported MIG Profiles". What a node discovers on its own cards
(`Device.mig_profiles`) overrides this table; other vendors' partitions come from discovery only.
"""

from functools import cache, lru_cache

from scheduler.amounts import clean_size
from scheduler.types import Device, MigProfile

SLICES = 8  # the most memory slices of any card; occupancy is a mask of so many bits
SEVEN = tuple(range(7))
FOUR = tuple(range(4))
Row = tuple[tuple[int, ...], int, int, int]  # starts, size, compute, maximum

_EIGHT_SLICES: tuple[Row, ...] = (
    (SEVEN, 1, 1, 7),
    ((0, 2, 4, 6), 2, 1, 4),
    ((0, 2, 4), 2, 2, 3),
    ((0, 4), 4, 3, 2),
    ((0,), 4, 4, 1),
    ((0,), 8, 7, 1),
    (SEVEN, 1, 1, 1),
)
_FOUR_SLICES: tuple[Row, ...] = (
    (FOUR, 1, 1, 4),
    ((0, 2), 2, 2, 2),
    ((0,), 4, 4, 1),
    (FOUR, 1, 1, 1),
    ((0, 2), 2, 2, 1),
)
# By the card's memory in GB. The last names are those with media engines, of which a card has one set.
_NAMES = {
    40: ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb", "1g.5gb+me"),
    80: ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb", "1g.10gb+me"),
    94: ("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb", "1g.12gb+me"),
    96: ("1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb", "1g.12gb+me"),
    141: ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb", "1g.18gb+me"),
    180: ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb", "1g.23gb+me"),
}
_A30 = ("1g.6gb", "2g.12gb", "4g.24gb", "1g.6gb+me", "2g.12gb+me")
_EIGHT_SLICE_FAMILIES = ("A100", "A800", "H100", "H800", "H200", "H20", "GH200", "B200")


def _geometry(memory_mib: int, names: tuple[str, ...], rows: tuple[Row, ...], slices: int) -> tuple[MigProfile, ...]:
    return tuple(
        MigProfile(name, starts, size, compute, memory_mib * size // slices, maximum)
        for name, (starts, size, compute, maximum) in zip(names, rows, strict=True)
    )


@cache
def table_for(model: str, memory_mib: int) -> tuple[MigProfile, ...]:
    """The built-in geometry of a model, by family name and memory size; empty when the model has no MIG."""
    name = model.upper()
    if "A30" in name and "A300" not in name:
        return _geometry(24 * 1024, _A30, _FOUR_SLICES, 4)
    if not any(family in name for family in _EIGHT_SLICE_FAMILIES):
        return ()
    size = min(_NAMES, key=lambda gb: abs(gb * 1024 - clean_size(memory_mib)))
    return _geometry(clean_size(memory_mib), _NAMES[size], _EIGHT_SLICES, SLICES)


def profiles_of(device: Device) -> tuple[MigProfile, ...]:
    """The profiles of the card: as discovered by its node, else from the table."""
    if device.mig_profiles is None:
        return table_for(device.model, device.memory_mib)
    return _legal(device.mig_profiles)


@lru_cache(maxsize=256)
def _legal(reported: tuple[MigProfile, ...]) -> tuple[MigProfile, ...]:
    """The valid profiles: with a size, a name, and starts inside the card. Only the first of each name counts."""
    by_name: dict[str, MigProfile] = {}
    for profile in reported:
        inside = profile.starts and min(profile.starts) >= 0 and max(profile.starts) + profile.size <= SLICES
        sizes = min(profile.size, profile.compute, profile.maximum) > 0 and profile.memory_mib >= 0
        if inside and sizes and profile.name:
            by_name.setdefault(profile.name, profile)
    return tuple(by_name.values())


def compute_slices(device: Device) -> int:
    """Compute slices of the card: the most that any one profile uses when the card holds as many of it as it can."""
    return max((p.compute * min(p.maximum, len(p.starts)) for p in profiles_of(device)), default=1)


def profile_named(device: Device, name: str | None) -> MigProfile | None:
    return next((p for p in profiles_of(device) if p.name == name), None)


def span(start: int, size: int) -> int:
    """The bit mask of `size` memory slices from `start`."""
    return ((1 << size) - 1) << start
