"""Queue and fairness: who holds how much, who waits and for what, what is kept for whom, what of the cards is lost.

The page is a frame of parts. Each is fetched and refreshed by itself, so that a long queue or a large fleet delays
nothing else; on a small installation they all come with the page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from apps.common.access import on_platform, requires
from apps.common.clock import db_now
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.queue.frame import Axis, focus_of, frame, is_small, query_of, words_of
from apps.console.queue.head import strip
from apps.console.queue.listing import QueueTable
from apps.console.queue.selectors import demand
from apps.console.queue.selectors import fairness as fair
from apps.console.queue.selectors import fragments as pieces
from apps.console.queue.selectors import lanes as future
from apps.console.queue.selectors import rows as reads
from apps.console.queue.selectors.board import board
from apps.console.queue.selectors.focus import Focus, Passed, memory_for_all, passed
from apps.workloads.queueing import standstill

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
ORGANISATIONS, NODES, WORKLOADS = 20, 5, 25
Context = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at, as of which pass."""

    focus: Focus
    at: Passed


@requires(VIEW)
@require_GET
def page(request: StaffRequest) -> HttpResponse:
    focus, at = focus_of(request), passed()
    small = is_small(at)
    names = [name for name in PARTS if name != "waiting" or request.actor.may(P.PLATFORM_WORKLOADS_VIEW)]
    parts = [_part(request, Look(focus, at), name, filled=small, small=small) for name in names]
    return render(
        request,
        "console/queue/page.html",
        frame(request, focus, "queue") | {"parts": parts, "words": words_of(request)},
    )


@requires(VIEW)
@require_GET
def part(request: StaffRequest, part: str) -> HttpResponse:
    """One part, for the frame."""
    if part not in PARTS or (part == "waiting" and not request.actor.may(P.PLATFORM_WORKLOADS_VIEW)):
        raise Http404
    look = Look(focus_of(request), passed())
    context = _part(request, look, part, filled=True, small=is_small(look.at))
    return render(request, "console/queue/part.html", {"part": context})


def _part(request: StaffRequest, look: Look, name: str, *, filled: bool, small: bool) -> Context:
    """A part with what it shows, or empty and about to fetch itself."""
    query = query_of(request)
    return {
        "name": name,
        "filled": filled,
        "template": f"console/queue/{name}.html",
        "url": reverse("console:queue_part", args=[name]) + (f"?{query}" if query else ""),
        "every": 6 if small else 20,
        "focus": look.focus,
        "sees_work": request.actor.may(P.PLATFORM_WORKLOADS_VIEW),
        "sees_tenants": request.actor.may(P.PLATFORM_TENANTS_VIEW),
        **(PARTS[name](request, look) if filled else {}),
    }


def _head(request: StaffRequest, look: Look) -> Context:
    return {
        "strip": strip(look.focus, look.at),
        "passed": look.at,
        "standstill": standstill.standstill_to_show(look.focus.simulated),
    }


def _fairness(request: StaffRequest, look: Look) -> Context:
    found = fair.shares(look.focus, board(look.focus.simulated, look.at), demand.asked(look.focus, look.at))
    return {
        "page": _page(request, found, "f", ORGANISATIONS),
        "scale": max([max(s.held, s.deserved, s.guaranteed) for s in found], default=0),
        "sums": {name: sum(getattr(s, name) for s in found) for name in SUMMED},
        "used": sum(s.used_card_hours for s in found),
        "used_cores": sum(s.used_core_hours for s in found),
    }


SUMMED = ("guaranteed", "held", "deserved", "waiting", "wanted")


def _reservations(request: StaffRequest, look: Look) -> Context:
    chosen = _page(request, future.nodes(look.focus), "r", NODES)
    lanes = future.lanes(look.focus, list(chosen.object_list))
    axis = Axis.of(db_now(), request.GET.get("hours", ""), lanes)
    return {"page": chosen, "axis": axis, "lanes": [axis.lane(lane) for lane in lanes], "hours": axis.choices(request)}


def _waiting(request: StaffRequest, look: Look) -> Context:
    words = words_of(request)
    rows = reads.searched(reads.in_turn(request.actor, look.focus), words)
    paginator = Paginator(reads.ids(rows), WORKLOADS)
    if not words:
        paginator.count = demand.summed(demand.asked(look.focus, look.at)).tasks
    with memory_for_all():
        found = paginator.get_page(request.GET.get("page"))
        rows_shown = reads.rows_of(found.object_list)
    return {"page": found, "table": QueueTable(rows_shown), "words": words}


def _fragments(request: StaffRequest, look: Look) -> Context:
    found = pieces.lines(look.focus, board(look.focus.simulated, look.at))
    return {"lines": found, "totals": pieces.totals(found)}


def _page(request: StaffRequest, found: list[Any], name: str, size: int) -> Page[Any]:
    return Paginator(found, size).get_page(request.GET.get(name))


# In the order of the page.
PARTS: dict[str, Callable[[StaffRequest, Look], Context]] = {
    "head": _head,
    "fairness": _fairness,
    "reservations": _reservations,
    "waiting": _waiting,
    "fragments": _fragments,
}
