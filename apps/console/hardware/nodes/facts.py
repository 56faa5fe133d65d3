"""What a node is, as the rows of `components/kv.html`."""

from typing import Any

from django.utils.translation import gettext as _

from apps.clusters.discovery import LOCKED_MEMORY, MIB
from apps.clusters.models import Node
from apps.common.formatting import memory
from apps.common.templatetags.pl import when
from apps.console.kit.words import core_words
from apps.workloads.drivers.disk import floor_bytes

Row = dict[str, Any]


def node_facts(node: Node) -> list[Row]:
    names = {"os": _("Operating system"), "cpu": _("Processor"), "python": "Python", "driver": _("GPU driver")}
    names |= {LOCKED_MEMORY: _("Memory that programs may lock")}
    told = [{"label": names.get(name, name), "value": value} for name, value in node.facts.items() if value]
    return [
        {"label": _("CPU"), "value": core_words(node.cpu_milli), "sub": _kept_cpu(node)},
        {"label": _("Memory"), "value": memory(node.memory_mib), "sub": _kept_memory(node)},
        {"label": _("Disk"), "value": memory(node.disk_mib), "sub": _free(node)},
        *_files(node),
        {"label": _("Architecture"), "value": node.arch},
        {"label": _("Driver"), "value": node.driver},
        *told,
    ]


def _kept_cpu(node: Node) -> str:
    if not node.reserved_cpu_milli:
        return ""
    return _("%(amount)s kept for the system") % {"amount": core_words(node.reserved_cpu_milli)}


def _kept_memory(node: Node) -> str:
    if not node.reserved_memory_mib:
        return ""
    return _("%(amount)s kept for the system") % {"amount": memory(node.reserved_memory_mib)}


def _free(node: Node) -> str:
    free = _("%(free)s free") % {"free": memory(node.disk_free_mib)}
    if node.cluster.zone.simulated:
        return free
    floor = _("runs that fill it are ended below %(floor)s") % {
        "floor": memory(floor_bytes(node.disk_mib * MIB) // MIB)
    }
    return f"{free} · {floor}"


def _files(node: Node) -> list[Row]:
    low = [{"label": _("Disk nearly full since"), "value": when(node.disk_low_since)}] if node.disk_low_since else []
    if not node.disk_files:
        return low
    free = _("%(free)s free") % {"free": f"{node.disk_files_free:,}"}
    return [*low, {"label": _("Files on disk (inodes)"), "value": f"{node.disk_files:,}", "sub": free}]


def isolation_words(node: Node) -> dict[str, str]:
    """What the node's isolation level means, and its tone; the driver's own reason stands beside it."""
    if node.isolation == "L0":
        text = _("Workloads are not kept apart: one trusted organisation only.")
        return {"title": _("Level L0"), "text": text, "tone": "warn"}
    text = _("Each workload has its own file system view, process tree and limits; several organisations may share it.")
    return {"title": _("Level %(level)s") % {"level": node.isolation}, "text": text, "tone": ""}
