"""What became of the queue's decisions: who gave way to whom, and how well starts were foretold."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext
from django.views.decorators.http import require_GET

from apps.common.access import on_platform, requires
from apps.common.formatting import elapsed
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.queue.frame import focus_of, frame
from apps.console.queue.head import percent
from apps.console.queue.listing import PreemptionTable
from apps.console.queue.selectors import preemptions as reads
from apps.console.queue.words import cause_words
from apps.workloads.queueing import estimates as past

PER_PAGE = 25


@requires(on_platform(P.PLATFORM_WORKLOADS_VIEW))
@require_GET
def preemptions(request: StaffRequest) -> HttpResponse:
    focus = focus_of(request)
    rows = reads.preemptions(request.actor, focus)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    days = reads.days(rows)
    context = frame(request, focus, "queue_preemptions") | {
        "page": page,
        "table": PreemptionTable(reads.with_gainers(page.object_list)),
        "days": days,
        "most": max(day.asked for day in days),
    }
    return render(request, "console/queue/preemptions.html", context)


@requires(on_platform(P.PLATFORM_NODES_VIEW))
@require_GET
def estimates(request: StaffRequest) -> HttpResponse:
    """Of both worlds each by itself; scores are not kept by card model."""
    focus = focus_of(request)
    card = past.scorecard(request.actor, simulated=focus.simulated)
    context = frame(request, focus, "queue_estimates") | {
        "card": card,
        "strip": _strip(card),
        "groups": [
            (_("By cause"), _("Cause named then"), [(cause_words(cause), s) for cause, s in card.by_cause.items()]),
            (_("By size"), pgettext("demand", "Asked for"), [(SIZES[size], s) for size, s in card.by_size.items()]),
        ],
        "models": [],
    }
    return render(request, "console/queue/estimates.html", context)


SIZES = {
    past.Size.CPU: gettext_lazy("CPU only"),
    past.Size.SLICE: gettext_lazy("a part of a card"),
    past.Size.ONE: gettext_lazy("one card"),
    past.Size.FEW: gettext_lazy("2 to 7 cards"),
    past.Size.MANY: gettext_lazy("8 cards and more"),
}


def _strip(card: past.Scorecard) -> list[dict[str, Any]]:
    whole = card.whole
    starts = ngettext("start predicted in 30 days", "starts predicted in 30 days", whole.starts)
    return [
        {"label": _("Tested"), "value": f"{whole.starts:,}", "unit": starts},
        {"label": _("Before p50"), "value": percent(100 * whole.before), "sub": _("ideal: half of all")},
        {"label": _("Between p50 and p90"), "value": percent(100 * whole.inside), "sub": _("ideal: four in ten")},
        {
            "label": _("After p90"),
            "value": percent(100 * whole.after),
            "sub": _("well made: one in ten; half are off by less than %(error)s")
            % {"error": elapsed(whole.median_error_s)},
        },
    ]
