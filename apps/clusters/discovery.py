"""Discover this machine: CPU, memory and disk through psutil, cards through their vendors' interfaces."""

import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil

from apps.clusters import amd, card_links, huawei, kernel_log, limiters, nvidia, rdma
from apps.clusters.cards import Card, UnreadCard
from apps.clusters.rdma import RdmaDevice
from apps.clusters.xids import Fault

__all__ = ["MIB", "Card", "Machine", "measure_machine"]

MIB = 1024 * 1024
LOCKED_MEMORY = "locked-memory"
"""Of a machine's facts: how much memory programs that its agent starts may lock."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Capacity in milli-cores and MiB, and the load at this moment in per cent.

    `limiters`: what can limit slices of NVIDIA cards to their memory. `disk_files`: how many files the disk has room
    for (inodes), 0 where it knows no such number. `unread`: cards that are listed and cannot be read. `nvml_error`: why
    NVIDIA's library fails altogether. `boot_id`: which start of the machine this is. `faults`: what its NVIDIA cards
    reported since then; `faults_unread`: why that cannot be seen (`kernel_log.Unread`).
    """

    name: str
    arch: str
    cpu_milli: int
    memory_mib: int
    memory_used_mib: int
    disk_mib: int
    disk_free_mib: int
    cpu_pct: float
    facts: dict[str, str] = field(default_factory=dict)
    cards: tuple[Card, ...] = ()
    limiters: tuple[str, ...] = ()
    disk_files: int = 0
    disk_files_free: int = 0
    rdma: tuple[RdmaDevice, ...] = ()
    unread: tuple[UnreadCard, ...] = ()
    nvml_error: str = ""
    boot_id: str = ""
    faults: tuple[Fault, ...] = ()
    faults_unread: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Machine":
        """Another machine's measurement of itself. Raises KeyError, TypeError or ValueError for malformed data."""
        fields = dict(data)
        cards = tuple(Card.from_json(card) for card in fields.pop("cards", ()))
        fields["unread"] = tuple(UnreadCard.from_json(card) for card in fields.get("unread", ()))
        fields["faults"] = tuple(Fault.from_json(fault) for fault in fields.get("faults", ())[: kernel_log.MOST_FAULTS])
        fields["rdma"] = tuple(RdmaDevice.from_json(device) for device in fields.pop("rdma", ()))
        found = cls(**{**fields, "limiters": tuple(fields.get("limiters", ()))}, cards=cards)
        amounts = (found.cpu_milli, found.memory_mib, found.disk_mib, found.disk_free_mib, found.memory_used_mib)
        files = (found.disk_files, found.disk_files_free)
        if not all(isinstance(amount, int) and 0 <= amount < 2**31 for amount in amounts):
            raise ValueError("An amount makes no sense")
        if not all(isinstance(amount, int) and 0 <= amount < 2**63 for amount in files):
            raise ValueError("An amount makes no sense")
        if found.boot_id:
            UUID(str(found.boot_id))
        if found.faults_unread not in ("", *kernel_log.Unread):
            raise ValueError("This is no reason")
        return found


def measure_machine(folder: Path) -> Machine:
    """Measure this machine; `folder` names the disk that holds people's files."""
    memory, disk = psutil.virtual_memory(), psutil.disk_usage(str(folder))
    ascend, inodes = huawei.read_ascend_cards(), os.statvfs(folder)
    nvidia_report = nvidia.read_nvidia_cards()
    cards = card_links.with_links((*nvidia_report.cards, *amd.cards(), *ascend.cards))
    found_rdma = rdma.devices()
    faults = kernel_log.card_faults() if nvidia_report.has_library else kernel_log.CardFaults()
    return Machine(
        name=socket.gethostname()[:80] or "localhost",
        arch=platform.machine(),
        cpu_milli=_usable_cores() * 1000,
        memory_mib=memory.total // MIB,
        memory_used_mib=(memory.total - memory.available) // MIB,
        disk_mib=disk.total // MIB,
        disk_free_mib=disk.free // MIB,
        cpu_pct=psutil.cpu_percent(interval=0.2),
        facts=_facts(ascend.trouble, nvidia_report) | (_locked_memory() if found_rdma else {}),
        cards=cards,
        limiters=tuple(name.value for name in limiters.installed_limiters()),
        disk_files=inodes.f_files,
        disk_files_free=inodes.f_favail,
        rdma=rdma.with_card_links(found_rdma, cards),
        unread=nvidia_report.unread,
        nvml_error=nvidia_report.error,
        boot_id=kernel_log.boot_id(),
        faults=faults.faults,
        faults_unread=faults.unread,
    )


def _facts(npu_smi: str, nvml: nvidia.NvidiaReport) -> dict[str, str]:
    """`npu-smi`, `nvml`: why cards are missing or not used, for whoever looks at the machine's page."""
    facts = {"os": platform.platform(terse=True), "cpu": _cpu_model(), "python": platform.python_version()}
    troubles = {"npu-smi": npu_smi, "nvml": nvml.trouble}
    told = {name: trouble for name, trouble in troubles.items() if trouble}
    return facts | nvidia.driver_versions() | amd.driver_versions() | told


def _locked_memory() -> dict[str, str]:
    """Said only where there is a limit: RDMA locks what it transfers."""
    limit = rdma.locked_memory_mib()
    return {} if limit is None else {LOCKED_MEMORY: f"{limit} MiB"}


def _usable_cores() -> int:
    """Cores this process may run on: a container or a taskset may have fewer than the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(named, platform.processor())
