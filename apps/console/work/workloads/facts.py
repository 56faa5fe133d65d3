"""What a workload is, as the rows of `components/kv.html`."""

from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.formatting import memory
from apps.common.permissions import Permission as P
from apps.common.templatetags.pl import when
from apps.console.kit.words import core_words
from apps.workloads.models import Attempt, Workload
from apps.workloads.programs import programs_of

Row = dict[str, Any]


def workload_facts(actor: Actor, workload: Workload, attempt: Attempt | None) -> list[Row]:
    """Whose it is, what it asked for, where and when it ran; names are links where the actor may follow them."""
    spec, organisation = workload.frozen_spec, workload.organisation
    nodes = {program.node.pk: program.node for program in programs_of(attempt)} if attempt else {}
    return [
        {
            "label": _("Organisation"),
            "value": _link(actor, P.PLATFORM_TENANTS_VIEW, "console:organisation", organisation.pk, organisation.name),
        },
        {"label": _("Owner"), "value": workload.owner, "sub": workload.owner.username},
        {
            "label": _("Node"),
            "value": format_html_join(", ", "{}", ((_node_link(actor, node),) for node in nodes.values())) or "—",
        },
        *_members(workload, attempt),
        *_replica(workload),
        {"label": _("Image"), "value": spec.image.name},
        {"label": _("CPU"), "value": core_words(spec.cpu_milli)},
        {"label": _("Memory"), "value": memory(spec.memory_mib), "sub": _peak(attempt)},
        {"label": _("GPU"), "value": _gpu(workload)},
        {"label": _("Priority"), "value": workload.priority},
        {"label": _("Attempt"), "value": workload.attempt_number or "—"},
        *_times(workload),
        {"label": _("Id"), "value": format_html('<span class="pl-code pl-small">{}</span>', workload.pk)},
    ]


def _node_link(actor: Actor, node: Node) -> str | SafeString:
    return _link(actor, P.PLATFORM_NODES_VIEW, "console:node", node.pk, node.name)


def _members(workload: Workload, attempt: Attempt | None) -> list[Row]:
    """Nothing for one program alone; what follows is of each. Of an elastic gang, how many of how many there are."""
    count = workload.member_count
    if count == 1:
        return []
    fewer = attempt.size if attempt is not None else None
    value = str(count) if fewer is None else _("%(used)s of %(total)s") % {"used": fewer, "total": count}
    return [{"label": pgettext("of a run", "Members"), "value": value}]


def _replica(workload: Workload) -> list[Row]:
    """Nothing for work that is no replica."""
    if workload.replica_set is None:
        return []
    return [{"label": _("Replica"), "value": workload.replica_index, "sub": workload.replica_set.name}]


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
