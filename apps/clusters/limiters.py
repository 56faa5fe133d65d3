"""What on this machine can limit a slice of a card to its memory. Detected, never assumed.

HAMi-core: a library loaded before a program's own, which counts what the program asks of CUDA (its README, "Usage").
MPS: NVIDIA's Multi-Process Service, whose daemon refuses what is over a client's limit ("Environment Variables"). It
would reach into a sandbox, but is not used there (L1): a fault of one client ends all others on the card, whoever they
belong to, and a daemon that was not started for several users lets those of another user wait (docs/hardware.md).
Standard library only: the first process of a workload's shim runs without anything else.
"""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path

# Below /usr, which every sandbox shows read-only; where HAMi's own installer puts it first.
HAMI_LIBRARIES = ("usr/local/vgpu/libvgpu.so", "usr/lib/libvgpu.so", "usr/local/lib/libvgpu.so")
# HAMi-core locks below this fixed folder; in a sandbox /tmp is the workload's own.
HAMI_LOCK = Path("/tmp/vgpulock")  # noqa: S108
MPS_PIPES = Path("/tmp/nvidia-mps")  # noqa: S108 - the daemon's own fixed place


class LimiterName(StrEnum):
    HAMI = "hami"
    MPS = "mps"


def hami_library(root: Path = Path("/")) -> Path | None:
    """The library, if it is installed and not empty."""
    found = (root / name for name in HAMI_LIBRARIES)
    return next((path for path in found if path.is_file() and path.stat().st_size), None)


def mps_runs(root: Path = Path("/")) -> bool:
    """Whether the control daemon listens: it creates this pipe and removes it when it ends."""
    return (root / MPS_PIPES.relative_to("/") / "control").exists()


def installed_limiters(root: Path = Path("/")) -> tuple[LimiterName, ...]:
    """Limiters on this machine, whether or not they have an effect on isolated work."""
    there = {LimiterName.HAMI: hami_library(root) is not None, LimiterName.MPS: mps_runs(root)}
    return tuple(name for name, is_there in there.items() if is_there)


def effective_limiter(there: Collection[str], level: str) -> LimiterName | None:
    """Which of them limits slices of NVIDIA cards at this isolation level (`L0`, `L1`); None if none does."""
    if LimiterName.HAMI in there:
        return LimiterName.HAMI
    return LimiterName.MPS if LimiterName.MPS in there and level == "L0" else None
