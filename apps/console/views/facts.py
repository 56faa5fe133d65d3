"""What nodes and workloads are, as the rows of `components/kv.html`."""

from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.clusters.discovery import MIB
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.formatting import memory
from apps.common.permissions import Permission as P
from apps.common.templatetags.pl import when
from apps.console.words import core_words
from apps.workloads.drivers.disk import floor_bytes
from apps.workloads.models import Attempt, Workload

Row = dict[str, Any]


def node_facts(node: Node) -> list[Row]:
    names = {"os": _("Operating system"), "cpu": _("Processor"), "python": "Python", "driver": _("GPU driver")}
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


def workload_facts(actor: Actor, workload: Workload, attempt: Attempt | None) -> list[Row]:
    """Whose it is, what it asked for, where and when it ran; names are links where the actor may follow them."""
    spec, organisation = workload.frozen_spec, workload.organisation
    node = attempt.node if attempt else None
    return [
        {
            "label": _("Organisation"),
            "value": _link(actor, P.PLATFORM_TENANTS_VIEW, "console:organisation", organisation.pk, organisation.name),
        },
        {"label": _("Owner"), "value": workload.owner, "sub": workload.owner.username},
        {
            "label": _("Node"),
            "value": _link(actor, P.PLATFORM_NODES_VIEW, "console:node", node.pk, node.name) if node else "—",
        },
        {"label": _("Image"), "value": spec.image.name},
        {"label": _("CPU"), "value": core_words(spec.cpu_milli)},
        {"label": _("Memory"), "value": memory(spec.memory_mib), "sub": _peak(attempt)},
        {"label": _("GPU"), "value": _gpu(workload)},
        {"label": _("Priority"), "value": workload.priority},
        {"label": _("Attempt"), "value": workload.attempt_number or "—"},
        *_times(workload),
        {"label": _("Id"), "value": format_html('<span class="pl-code pl-small">{}</span>', workload.pk)},
    ]


def _times(workload: Workload) -> list[Row]:
    return [
        {"label": _("Submitted"), "value": when(workload.created_at, seconds=True)},
        {"label": _("Started"), "value": when(workload.started_at, seconds=True)},
        {"label": _("Ended"), "value": when(workload.ended_at, seconds=True)},
    ]


def _link(actor: Actor, permission: P, page: str, key: object, name: str) -> str | SafeString:
    if not actor.may(permission):
        return name
    return format_html('<a class="pl-link" href="{}">{}</a>', reverse(page, args=[key]), name)


def _peak(attempt: Attempt | None) -> str:
    if attempt is None or attempt.peak_memory_mib is None:
        return ""
    return _("peak %(amount)s") % {"amount": memory(attempt.peak_memory_mib)}


def _gpu(workload: Workload) -> str:
    gpu = workload.frozen_spec.gpu
    if gpu is None:
        return _("none")
    return " ".join(filter(None, [f"{gpu.count} ×", gpu.model or _("any GPU"), gpu.profile or gpu.mode]))
