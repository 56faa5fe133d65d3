"""Nodes: the list, one of them with its cards and load, adding one."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.clusters import selectors as clusters
from apps.clusters.choices import CLOSED, NodeStatus
from apps.clusters.models import Node
from apps.common import bulk
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError, NotFound
from apps.common.feeds import growing
from apps.common.forms import show_error
from apps.common.pages import paged, refused
from apps.common.permissions import Permission as P
from apps.console.hardware.nodes import selectors as reads
from apps.console.hardware.nodes.bulk_acts import NODES
from apps.console.hardware.nodes.facts import isolation_words, node_facts
from apps.console.hardware.nodes.faults import node_faults
from apps.console.hardware.nodes.forms import DrainForm, JoinForm, ModeForm, MoveForm
from apps.console.hardware.nodes.gang_network import gang_network
from apps.console.hardware.nodes.links import link_rows
from apps.console.hardware.nodes.listing import NodeFilter, NodeTable
from apps.console.hardware.nodes.proofs import proof_rows
from apps.console.hardware.nodes.quarantine import quarantine_note
from apps.console.hardware.nodes.rdma import rdma_card
from apps.console.hardware.nodes.sources import source_rows
from apps.console.hardware.nodes.storage import storage_words
from apps.console.kit.requests import StaffRequest
from apps.workloads.hardware import lost, policy
from apps.workloads.nodes import data_root, is_own_machine, make_token

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
NEW = "console/nodes/new.html"
# What stands for the place of the shared folder on the new machine, which only its operator knows.
DATA = "/mnt/plstack-data"


@requires(VIEW)
@require_GET
def node_list(request: StaffRequest) -> HttpResponse:
    filtered = NodeFilter(request.GET, queryset=reads.nodes(request.actor), request=request)
    table = paged(request, NodeTable(filtered.qs, bulk=bulk.offered(request, NODES)))
    context = {"table": table, "filter": filtered, "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE)}
    return render(request, "console/nodes/list.html", context)


@requires(on_platform(P.PLATFORM_NODES_MANAGE))
@require_POST
def bulk_act(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, NODES)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, node_id: UUID) -> HttpResponse:
    """`?span=hour|day|week` is what the charts show."""
    actor = request.actor
    node = clusters.node(actor, node_id)
    span = request.GET.get("span", "hour")
    span = span if span in SPANS else "hour"
    row = reads.row_of(node, reads.holdings_by_node().get(node.pk, reads.NodeHoldings()), db_now())
    given_up = reads.attempts_lost_with(node)
    unproved = {attempt.pk for attempt in lost.unproved_attempts(node.pk)} if given_up else set()
    is_own = is_own_machine(node)
    context = {
        "node": node,
        "row": row,
        "closed": node.status in CLOSED,
        "draining": node.status == NodeStatus.DRAINING,
        "simulated": node.cluster.zone.simulated,
        "may_be_lost": not is_own and node.lost_at is None and not lost.is_well(node),
        "lost_after": policy.rules().lost_after_minutes if not is_own else 0,
        "removable": not is_own,
        "given_up": given_up,
        "unproved": [attempt.pk for attempt in given_up if attempt.pk in unproved],
        "strays": node.strays.order_by("first_seen_at"),
        "labels": sorted(node.labels.items()),
        "drain_form": DrainForm(),
        "move_form": MoveForm(node=node),
        "mode_form": ModeForm(),
        "may_drain": actor.may(P.PLATFORM_NODES_MANAGE) and actor.may(P.PLATFORM_WORKLOADS_MANAGE),
        "isolation": isolation_words(node),
        "gang_network": gang_network(node),
        "facts": node_facts(node),
        **_hardware(actor, node),
        "runs": reads.running_on(node),
        "span": span,
        "spans": _spans(span),
        "sources": None if node.cluster.zone.simulated else source_rows(node),
        "window": int(SPANS[span].total_seconds()),
        "may_manage": actor.may(P.PLATFORM_NODES_MANAGE),
        "sees_work": actor.may(P.PLATFORM_WORKLOADS_VIEW),
    }
    return render(request, "console/nodes/detail.html", context)


def _hardware(actor: Actor, node: Node) -> dict[str, Any]:
    """The cards, how they are connected, their faults, the platform's files as the node sees them, what closes it."""
    cards = reads.cards_of(node)
    accelerators = [card.accelerator for card in cards]
    links, rdma = link_rows(accelerators), rdma_card(node, accelerators)
    proofs = None if node.cluster.zone.simulated else proof_rows(accelerators)
    faults = node_faults(actor, node, accelerators)
    shown = {"links": links, "rdma": rdma, "proofs": proofs, "faults": faults}
    return {"cards": cards, **shown, "storage": storage_words(node), "quarantine": quarantine_note(node)}


def _spans(current: str) -> list[dict[str, Any]]:
    words = {"hour": _("Hour"), "day": _("Day"), "week": _("Week")}
    return [{"name": name, "label": words[name], "current": name == current} for name in SPANS]


@growing(every_s=20)
@requires(VIEW)
@require_GET
def load(request: StaffRequest, node_id: UUID, name: str) -> JsonResponse:
    """Points of one chart (cpu, memory, disk, gpu, gpu-memory) over `?span=`, newer than `?since=` (Unix seconds)."""
    span = SPANS.get(request.GET.get("span", ""), SPANS["hour"])
    try:
        since = float(request.GET.get("since", 0))
    except ValueError:
        since = 0.0
    node = clusters.node(request.actor, node_id)
    series = {
        "cpu": (_("CPU"), "%", 100.0),
        "memory": (_("Memory"), "GiB", node.memory_mib / 1024),
        "disk": (_("Disk"), "%", 100.0),
        "gpu": (_("GPU"), "%", 100.0),
        "gpu-memory": (_("GPU memory"), "%", 100.0),
    }
    if name not in series:
        raise NotFound
    label, unit, limit = series[name]
    points = reads.load_points(request.actor, node_id, span=span, after=since)[name]
    return JsonResponse([{"name": label, "unit": unit, "limit": limit, "points": points}], safe=False)


@requires(on_platform(P.PLATFORM_NODES_MANAGE))
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    form = JoinForm(request.POST or None)
    context = {"form": form, "data_root": str(data_root()), "data": DATA}
    if request.method != "POST":
        return render(request, NEW, context)
    if not form.is_valid():
        return refused(request, NEW, context)
    try:
        token = make_token(request.actor, cluster_id=form.cleaned_data["cluster"].pk, uses=form.cleaned_data["uses"])
    except DomainError as error:
        show_error(form, error)
        return refused(request, NEW, context)
    response = render(request, NEW, {**context, "command": _command(request, token)})
    response["Cache-Control"] = "no-store"
    return response


def _command(request: StaffRequest, token: str) -> str:
    server = request.build_absolute_uri("/").rstrip("/")
    return f"python3 -m plstack.agent join --server {server} --token {token} --data {DATA}"
