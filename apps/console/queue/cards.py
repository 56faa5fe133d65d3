"""Every card with what sits on it, many machines on one page."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.clusters.models import Node
from apps.common.access import on_platform, requires
from apps.common.permissions import Permission as P
from apps.console.hardware.accelerators import selectors as accelerators
from apps.console.kit.requests import StaffRequest
from apps.console.queue.frame import focus_of, frame, words_of
from apps.console.queue.selectors.board import board
from apps.console.queue.selectors.focus import Focus, cards, passed
from apps.console.queue.selectors.fragments import fragments

MACHINES = 40


@requires(on_platform(P.PLATFORM_NODES_VIEW))
@require_GET
def page(request: StaffRequest) -> HttpResponse:
    focus = focus_of(request)
    words = words_of(request)
    rows = Node.objects.filter(pk__in=cards(focus).values("node_id"))
    if words:
        rows = rows.filter(name__icontains=words)
    found = Paginator(rows.order_by("name"), MACHINES).get_page(request.GET.get("page"))
    context = frame(request, focus, "queue_cards") | {
        "page": found,
        "words": words,
        "groups": _groups(focus, list(found.object_list)),
        "lost": _lost(focus),
    }
    return render(request, "console/queue/cards.html", context)


def _groups(focus: Focus, nodes: list[Node]) -> list[accelerators.NodeCards]:
    rows = cards(focus).filter(node__in=nodes).select_related("node__cluster__zone")
    return accelerators.node_cards(list(rows.order_by("node__name", "index")))


def _lost(focus: Focus) -> set[Any]:
    """Ids of cards with an idle piece that no package fits on."""
    drawn = board(focus.simulated, passed())
    rows, columns = fragments(drawn).nonzero()
    return {drawn.cells.cards[row][column].id for row, column in zip(rows.tolist(), columns.tolist(), strict=True)}
