"""The machines of a simulated zone: models, sizes and vendors as sold; none of them exists."""

from dataclasses import dataclass
from decimal import Decimal

from apps.billing.services import PackageSpec
from apps.clusters.choices import AcceleratorMode

CARDS = 8
CPU_MILLI, MEMORY_MIB, DISK_MIB = 128_000, 1024 * 1024, 8 * 1024 * 1024
# What the names of their packages end with, in English and Chinese.
MARKS = (" (simulated)", "（模拟）")
W, S, V, M = AcceleratorMode.WHOLE, AcceleratorMode.SHARED, AcceleratorMode.VGPU, AcceleratorMode.MIG


@dataclass(frozen=True, slots=True)
class Model:
    """One node of eight such cards. `modes`: the cards' modes in order. `profiles`: MIG profiles to offer.

    `fen_per_hour`: what a whole card is listed at, for zones that are billed.
    """

    name: str
    node: str
    vendor: str
    memory_mib: int
    arch: str
    modes: tuple[AcceleratorMode, ...]
    profiles: tuple[tuple[str, int, int], ...]  # name, memory in MiB, thousandths of the card
    fen_per_hour: int


MODELS = (
    Model(
        "A100-80G", "sim-a100", "nvidia", 81_920, "x86_64", (W, W, W, W, M, M, V, S),
        (("1g.10gb", 10_240, 143), ("3g.40gb", 40_960, 429)), 800,
    ),
    Model(
        "H100", "sim-h100", "nvidia", 81_920, "x86_64", (W, W, W, W, M, M, V, S),
        (("1g.10gb", 10_240, 143), ("3g.40gb", 40_960, 429)), 1400,
    ),
    Model(
        "A30", "sim-a30", "nvidia", 24_576, "x86_64", (W, W, W, W, M, M, V, S),
        (("1g.6gb", 6_144, 250), ("2g.12gb", 12_288, 500)), 350,
    ),
    Model("Ascend 910B3", "sim-910b", "huawei", 65_536, "aarch64", (W, W, W, W, V, V, V, S), (), 600),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListedPackage:
    """A package of simulated hardware and what it is listed at, in fen an hour."""

    spec: PackageSpec
    fen_per_hour: Decimal


def packages() -> list[ListedPackage]:
    """A whole card, each MIG profile, a quarter by vGPU and an eighth by sharing, of every model."""
    listed: list[ListedPackage] = []
    for model in MODELS:
        listed.append(_listed(model, W, "whole card", "整卡", 1000, model.memory_mib, "", len(listed)))
        for profile, memory_mib, core_milli in model.profiles:
            listed.append(
                _listed(model, M, f"MIG {profile}", f"MIG {profile}", core_milli, memory_mib, profile, len(listed))
            )
        listed.append(_listed(model, V, "vGPU 1/4", "vGPU 1/4", 250, model.memory_mib // 4, "", len(listed)))
        listed.append(_listed(model, S, "shared 1/8", "共享 1/8", 125, model.memory_mib // 8, "", len(listed)))
    return listed


def without_mark(name: str) -> str:
    """The name of a package where a badge beside it says already that its hardware is simulated."""
    for mark in MARKS:
        name = name.removesuffix(mark)
    return name


def _listed(
    model: Model,
    mode: AcceleratorMode,
    kind_en: str,
    kind_zh: str,
    core_milli: int,
    memory_mib: int,
    profile: str,
    position: int,
) -> ListedPackage:
    """CPU and memory of the machine in proportion to the share of one card."""
    spec = PackageSpec(
        name_en=f"{model.name} {kind_en}{MARKS[0]}",
        name_zh=f"{model.name} {kind_zh}{MARKS[1]}",
        cpu_milli=CPU_MILLI // CARDS * core_milli // 1000,
        memory_mib=MEMORY_MIB // CARDS // 2 * core_milli // 1000,
        gpu_count=1,
        gpu_model=model.name,
        gpu_mode=mode.value,
        gpu_core_milli=core_milli,
        gpu_memory_mib=memory_mib,
        mig_profile=profile,
        sort=500 + position,
    )
    return ListedPackage(spec, Decimal(model.fen_per_hour * core_milli // 1000))
