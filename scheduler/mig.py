"""MIG geometry: which partitions a card may hold and where.

Memory-slice starts and sizes as NVIDIA's driver reports them (nvmlDeviceGetGpuInstancePossiblePlacements).
What a node discovers on its own cards wins over this table (`Device.mig_profiles`).
"""

from functools import cache

from scheduler.types import Device, MigProfile

SEVEN = range(7)


def _eight_slice_card(memory_mib: int, names: tuple[str, ...]) -> tuple[MigProfile, ...]:
    """A100, H100, H200: eight memory slices, seven compute slices."""
    rows = (
        (tuple(SEVEN), 1, 1, 7),
        ((0, 2, 4, 6), 2, 1, 4),
        ((0, 2, 4), 2, 2, 3),
        ((0, 4), 4, 3, 2),
        ((0,), 4, 4, 1),
        ((0,), 8, 7, 1),
    )
    profiles = tuple(
        MigProfile(name, starts, size, compute, memory_mib * size // 8, maximum)
        for name, (starts, size, compute, maximum) in zip(names, rows, strict=True)
    )
    media = MigProfile(f"{names[0]}+me", tuple(SEVEN), 1, 1, memory_mib // 8, 1)
    return (*profiles, media)


def _a30() -> tuple[MigProfile, ...]:
    return (
        MigProfile("1g.6gb", (0, 1, 2, 3), 1, 1, 6144, 4),
        MigProfile("2g.12gb", (0, 2), 2, 2, 12288, 2),
        MigProfile("4g.24gb", (0,), 4, 4, 24576, 1),
    )


_NAMES = {
    40: ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    80: ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    141: ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
}


@cache
def table_for(model: str, memory_mib: int) -> tuple[MigProfile, ...]:
    """The built-in geometry of a model, by family name and memory size; empty when the model has no MIG."""
    name = model.upper()
    if "A30" in name and "A300" not in name:
        return _a30()
    if not any(family in name for family in ("A100", "H100", "H200", "H800", "A800")):
        return ()
    size = 40 if memory_mib <= 48 * 1024 else 80 if memory_mib <= 100 * 1024 else 141
    return _eight_slice_card(memory_mib, _NAMES[size])


def profiles_of(device: Device) -> tuple[MigProfile, ...]:
    """What this card may be cut into: discovered by its node, else from the table."""
    return device.mig_profiles if device.mig_profiles is not None else table_for(device.model, device.memory_mib)


def profile_named(device: Device, name: str | None) -> MigProfile | None:
    return next((p for p in profiles_of(device) if p.name == name), None)


def span(start: int, size: int) -> int:
    """The bit mask of `size` memory slices from `start`."""
    return ((1 << size) - 1) << start
