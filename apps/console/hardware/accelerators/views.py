"""Accelerators: every card with what sits on it, and switching how it is given out."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing.models import Package
from apps.clusters import selectors as clusters
from apps.clusters.choices import AcceleratorMode, Limiter
from apps.clusters.models import Accelerator
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, NotFound
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.hardware.accelerators import selectors as reads
from apps.console.hardware.accelerators.listing import CardFilter
from apps.console.kit.requests import StaffRequest
from apps.workloads.hardware import modes
from apps.workloads.hardware.consequences import change

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
CARDS_PER_PAGE = 160
NAMES = {
    AcceleratorMode.WHOLE: gettext_lazy("Whole card"),
    AcceleratorMode.MIG: "MIG",
    AcceleratorMode.VGPU: "vGPU",
    AcceleratorMode.SHARED: gettext_lazy("Shared"),
}
# What keeps the tasks of a card in this mode apart, beside its name.
MEANING = {
    AcceleratorMode.WHOLE: gettext_lazy("one task at a time"),
    AcceleratorMode.MIG: gettext_lazy("isolated in hardware"),
    AcceleratorMode.VGPU: gettext_lazy("memory limited"),
    AcceleratorMode.SHARED: gettext_lazy("no isolation"),
}
LAYOUTS_SHOWN = 12
PACKAGES_NAMED = 6


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
        "modes": _modes(chosen.card) if chosen else [],
        **_faults(request, chosen),
        "layouts_shown": LAYOUTS_SHOWN,
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


def _faults(request: StaffRequest, chosen: reads.CardView | None) -> dict[str, Any]:
    """`standing`: whether one of them keeps work away, so that a reset can be confirmed."""
    found = reads.faults_shown(request.actor, card_id=chosen.card.pk) if chosen else []
    return {"faults": found, "standing": any(fault.stands for fault in found)}


def _modes(card: Accelerator) -> list[dict[str, Any]]:
    return [
        {
            "value": mode.value,
            "label": NAMES[mode],
            "meaning": _meaning(card, mode),
            "current": mode == card.mode,
            "why_not": modes.mode_obstacle(card, mode),
        }
        for mode in NAMES
    ]


def _meaning(card: Accelerator, mode: AcceleratorMode) -> str:
    if mode == AcceleratorMode.VGPU and card.limiter in (Limiter.HAMI, Limiter.MPS):
        return _("memory limited by %(limiter)s") % {"limiter": card.get_limiter_display()}
    return str(MEANING[mode])


def _query(request: StaffRequest) -> str:
    """The filters without the chosen card, to be kept by its links."""
    kept = [(name, value) for name, value in request.GET.items() if name not in ("card",) and value]
    return urlencode(kept) + ("&" if kept else "")


def _wanted(value: str) -> AcceleratorMode:
    try:
        return AcceleratorMode(value)
    except ValueError as error:
        raise NotFound from error


def _change_text(card: Accelerator, wanted: AcceleratorMode, gained: Sequence[Package]) -> str:
    if wanted == card.mode:
        return _("It is given out this way already: nothing changes.")
    reason = modes.mode_obstacle(card, wanted)
    if reason:
        return _("It will be refused: %(reason)s.") % {"reason": reason}
    if not gained:
        return _("Its node switches it; the other cards go on. No package on offer starts on it then.")
    return _("Its node switches it; the other cards go on. Then these start on it: %(names)s.") % {
        "names": _named(gained)
    }


def _named(packages: Sequence[Package]) -> str:
    language = get_language() or ""
    named = ", ".join(package.name(language) for package in packages[:PACKAGES_NAMED])
    return f"{named}, …" if len(packages) > PACKAGES_NAMED else named


def _question(request: StaffRequest, card_id: UUID, wanted: AcceleratorMode) -> HttpResponse:
    """The dialog before a switch: what changes for whom."""
    card = clusters.card(request.actor, card_id)
    found = change(card, wanted)
    hidden = {"mode": wanted.value, "seen": card.mode}
    context = {
        "title": _("Give out card %(index)s of %(node)s as “%(mode)s”?")
        % {"node": card.node.name, "index": card.index, "mode": NAMES[wanted]},
        "text": _change_text(card, wanted, found.gained),
        "lost": _named(found.lost),
        "lost_sub": _("start on this card now, and then no more") if found.lost else "",
        "undo": _("Yes, while nothing is on it"),
        "action": reverse("console:accelerator_mode", args=[card.pk]),
        "fields_html": format_html_join("", '<input type="hidden" name="{}" value="{}">', hidden.items()),
        "button": _("Switch"),
        "plain": True,
    }
    return render(request, "components/confirm_body.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def mode(request: StaffRequest, card_id: UUID) -> HttpResponse:
    """GET: the question for the dialog. POST: the switch; `seen` is the mode that the person saw the card in."""
    if request.method != "POST":
        return _question(request, card_id, _wanted(request.GET.get("mode", "")))
    wanted = _wanted(request.POST.get("mode", ""))
    seen = _wanted(request.POST["seen"]) if request.POST.get("seen") else None
    try:
        card = modes.set_card_mode(request.actor, card_id=card_id, mode=wanted, seen=seen)
    except NotFound:
        raise
    except DomainError as error:
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
