"""Accelerators: every card with what sits on it, and switching how it is given out."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from apps.clusters import selectors as clusters
from apps.clusters.choices import AcceleratorMode
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, NotFound
from apps.common.permissions import Permission as P
from apps.console.hardware_filters import CardFilter
from apps.console.requests import StaffRequest
from apps.console.selectors import accelerators as reads
from apps.console.views.shared import done, say_refusal
from apps.workloads.hardware import modes

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
CARDS_PER_PAGE = 160
NAMES = {
    AcceleratorMode.WHOLE: gettext_lazy("Whole card"),
    AcceleratorMode.MIG: "MIG",
    AcceleratorMode.VGPU: "vGPU",
    AcceleratorMode.SHARED: gettext_lazy("Shared"),
}
# What each mode means, beside its name.
MEANING = {
    AcceleratorMode.WHOLE: gettext_lazy("one task at a time"),
    AcceleratorMode.MIG: gettext_lazy("cut in hardware, isolated"),
    AcceleratorMode.VGPU: gettext_lazy("memory limited"),
    AcceleratorMode.SHARED: gettext_lazy("no isolation"),
}


@requires(VIEW)
@require_GET
def card_list(request: StaffRequest) -> HttpResponse:
    """`?card=` is the card that stands in the side panel."""
    actor = request.actor
    filtered = CardFilter(request.GET, queryset=clusters.cards(actor), request=request)
    page = Paginator(filtered.qs, CARDS_PER_PAGE).get_page(request.GET.get("page"))
    groups = reads.node_cards(list(page.object_list))
    chosen = _chosen(request)
    context = {
        "filter": filtered,
        "page": page,
        "groups": groups,
        "models": reads.use_by_model(filtered.qs),
        "counts": reads.counts(actor),
        "chosen": chosen,
        "modes": _modes(chosen) if chosen else [],
        "query": _query(request),
        "may_manage": actor.may(P.PLATFORM_NODES_MANAGE),
        "sees_work": actor.may(P.PLATFORM_WORKLOADS_VIEW),
    }
    return render(request, "console/accelerators/page.html", context)


def _chosen(request: StaffRequest) -> reads.CardView | None:
    """The card of the side panel; none for an id that is no card's."""
    try:
        return reads.view_of(clusters.card(request.actor, UUID(request.GET.get("card", ""))))
    except (ValueError, NotFound):
        return None


def _modes(chosen: reads.CardView) -> list[dict[str, Any]]:
    possible = modes.possible(chosen.card)
    return [
        {
            "value": mode.value,
            "label": NAMES[mode],
            "meaning": MEANING[mode],
            "current": mode == chosen.card.mode,
            "possible": mode in possible,
        }
        for mode in NAMES
    ]


def _query(request: StaffRequest) -> str:
    """The filters without the chosen card, to be kept by its links."""
    kept = [(name, value) for name, value in request.GET.items() if name not in ("card",) and value]
    return urlencode(kept) + ("&" if kept else "")


@requires(MANAGE)
@require_POST
def mode(request: StaffRequest, card_id: UUID) -> HttpResponse:
    try:
        wanted = AcceleratorMode(request.POST.get("mode", ""))
        card = modes.set_card_mode(request.actor, card_id=card_id, mode=wanted)
    except ValueError as error:
        raise NotFound from error
    except DomainError as error:
        if isinstance(error, NotFound):
            raise
        say_refusal(request, error)
        return redirect(f"{reverse('console:accelerators')}?card={card_id}")
    words = _("Card %(index)s of %(node)s is now given out this way: %(mode)s.") % {
        "index": card.index,
        "node": card.node.name,
        "mode": wanted.label,
    }
    response = done(request, words, "console:accelerators")
    response["Location"] += f"?card={card_id}"
    return response
