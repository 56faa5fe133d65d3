"""Which promises about accelerators were seen kept on hardware, and on which.

Everything else about cards is tested against the vendors' interfaces alone. `python -m benchmarks.hardware` tries
NVIDIA's on the card of a machine; docs/hardware.md says how each was seen. A check that is repeated elsewhere adds its
sighting to both.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Sighting:
    """`model`: as the vendor's library names it. `driver`: its version."""

    model: str
    driver: str
    day: date


@dataclass(frozen=True, slots=True)
class Proof:
    """`key`: the name of the check, or of what there is no check for. `seen` empty: never on hardware."""

    key: str
    words: Any
    seen: tuple[Sighting, ...] = ()


_H100 = Sighting("H100 80GB HBM3", "580.159.04", date(2026, 11, 26))
PROOFS: dict[str, tuple[Proof, ...]] = {
    "nvidia": (
        Proof("figures", _("Memory, use, temperature and power, as nvidia-smi shows them"), (_H100,)),
        Proof("whole", _("Whole cards in isolated work; work without a card finds none"), (_H100,)),
        Proof("shared", _("Shared cards, with the memory and the use of each run"), (_H100,)),
        Proof("mps", _("Slices that MPS holds to their memory, on machines that do not isolate work"), (_H100,)),
        Proof("hami", _("Slices that HAMi-core holds to their memory")),
        Proof("mig_places", _("MIG: the partitions that a card offers"), (_H100,)),
        Proof("mig_made", _("MIG: partitions made and removed")),
        Proof("idle", _("Idle cards are noticed"), (_H100,)),
        Proof("given_back", _("Work that is killed leaves nothing on the card"), (_H100,)),
        Proof("fault", _("Faults of a card (XID) are noticed"), (_H100,)),
        Proof("torch_runtime", _("PyTorch in a runtime, as fast as outside of the sandbox"), (_H100,)),
        Proof("container_image", _("Container images with the driver of the machine"), (_H100,)),
        Proof("several_cards", _("Several cards and NCCL between them")),
    ),
    "amd": (Proof("amd", _("Anything on AMD cards")),),
    "huawei": (Proof("huawei", _("Anything on Ascend cards")),),
}
"""By vendor, in the order in which they are shown."""
