"""The console's first page."""

from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.formatting import cores, memory
from apps.common.money import yuan_rate
from apps.common.permissions import Permission as P
from apps.console.finance.selectors import burn, short_of_money
from apps.console.kit.live import newest_event_id
from apps.console.kit.requests import StaffRequest
from apps.console.overview import selectors as overview


@requires(on_platform(P.PLATFORM_OVERVIEW))
@require_GET
def page(request: StaffRequest) -> HttpResponse:
    """Each member of the staff sees the parts that their role may open."""
    actor = request.actor
    context: dict[str, Any] = {
        "strip": _strip(actor),
        "capacity": _capacity(actor),
        "last_pass": overview.last_pass(actor),
        "last_event_id": newest_event_id(),
        "sees_work": actor.may(P.PLATFORM_WORKLOADS_VIEW),
        "sees_money": actor.may(P.PLATFORM_FINANCE_VIEW),
    }
    if actor.may(P.PLATFORM_WORKLOADS_VIEW):
        context |= {"queue": overview.queue(actor), "failures": overview.recent_failures(actor)}
    if actor.may(P.PLATFORM_FINANCE_VIEW):
        context["short"] = short_of_money(actor)
    return render(request, "console/overview.html", context)


def _strip(actor: Actor) -> list[dict[str, Any]]:
    return [_work_cell(actor), _burn_cell(actor), _organisations_cell(actor), _nodes_cell(actor)]


def _work_cell(actor: Actor) -> dict[str, Any]:
    live = overview.living_work(actor)
    return {
        "label": _("Running now"),
        "value": live.running,
        "unit": ngettext("workload", "workloads", live.running),
        "sub": _("%(starting)s starting, %(queued)s queued") % {"starting": live.starting, "queued": live.queued},
        "url": _link(actor, P.PLATFORM_WORKLOADS_VIEW, "console:workloads"),
    }


def _burn_cell(actor: Actor) -> dict[str, Any]:
    rate, payers = burn(actor)
    return {
        "label": _("Metered now"),
        "value": yuan_rate(rate or Decimal(0)),
        "sub": ngettext("paid by %(count)s organisation", "paid by %(count)s organisations", payers)
        % {"count": payers},
        "url": _link(actor, P.PLATFORM_FINANCE_VIEW, "console:consumption"),
    }


def _organisations_cell(actor: Actor) -> dict[str, Any]:
    found = overview.organisation_counts(actor)
    frozen = found["total"] - found["active"]
    return {
        "label": _("Organisations"),
        "value": found["active"],
        "unit": _("active"),
        "sub": _("%(count)s frozen") % {"count": frozen},
        "url": _link(actor, P.PLATFORM_TENANTS_VIEW, "console:organisations"),
    }


def _nodes_cell(actor: Actor) -> dict[str, Any]:
    found = overview.nodes(actor)
    return {
        "label": _("Nodes taking work"),
        "value": found["ready"],
        "unit": _("of %(total)s") % {"total": found["total"]},
        "sub": _nodes_note(found),
        "tone": "warn" if found["silent"] or not found["ready"] else "",
        "url": _link(actor, P.PLATFORM_NODES_VIEW, "console:nodes"),
    }


def _nodes_note(found: dict[str, int]) -> str:
    if found["simulated"]:
        return _("%(silent)s not heard from, %(cordoned)s closed; %(simulated)s simulated, not counted") % found
    return _("%(silent)s not heard from, %(cordoned)s cordoned") % found


def _link(actor: Actor, permission: P, name: str) -> str:
    return reverse(name) if actor.may(permission) else ""


def _capacity(actor: Actor) -> list[dict[str, Any]]:
    """Rows of the capacity card: used, total (same unit), and both in words."""
    all_nodes = overview.capacity(actor)
    unwell = all_nodes.cards_unwell
    return [
        {
            "label": _("CPU"),
            "used": all_nodes.cpu_held,
            "total": all_nodes.cpu_milli,
            "text": _("%(used)s of %(total)s cores")
            % {"used": cores(all_nodes.cpu_held), "total": cores(all_nodes.cpu_milli)},
        },
        {
            "label": _("Memory"),
            "used": all_nodes.memory_held,
            "total": all_nodes.memory_mib,
            "text": _("%(used)s of %(total)s")
            % {"used": memory(all_nodes.memory_held), "total": memory(all_nodes.memory_mib)},
        },
        {
            "label": _("Accelerators"),
            "used": all_nodes.cards_held,
            "total": all_nodes.cards,
            "text": ngettext("%(used)s of %(total)s card", "%(used)s of %(total)s cards", all_nodes.cards)
            % {"used": all_nodes.cards_held, "total": all_nodes.cards}
            if all_nodes.cards
            else _("no cards on any node"),
            "note": ngettext("%(count)s not healthy", "%(count)s not healthy", unwell) % {"count": unwell}
            if unwell
            else "",
        },
    ]
