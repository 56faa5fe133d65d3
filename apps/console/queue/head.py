"""The answers on top of the queue's page."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.clock import db_now
from apps.common.formatting import UNKNOWN, elapsed
from apps.console.queue.selectors import demand
from apps.console.queue.selectors import fragments as pieces
from apps.console.queue.selectors.board import board
from apps.console.queue.selectors.focus import Focus, Passed
from apps.console.queue.words import cards_figure, causes_words

Cell = dict[str, Any]


def strip(focus: Focus, at: Passed) -> list[Cell]:
    totals = pieces.totals(pieces.lines(focus, board(focus.simulated, at)))
    waiting = demand.summed(demand.asked(focus, at))
    return [_waiting(waiting), _waits(demand.waits(focus), waiting), _allocated(totals), _fragmented(totals)]


def _waiting(found: demand.Demand) -> Cell:
    tasks = ngettext("task", "tasks", found.tasks)
    return {
        "label": _("Waiting"),
        "value": f"{found.tasks:,}",
        "unit": _("%(tasks)s, for %(cards)s cards") % {"tasks": tasks, "cards": cards_figure(found.milli)},
        "sub": causes_words(found.causes) or _("Whatever is submitted now starts as soon as it fits."),
    }


def _waits(waits: demand.Waits, waiting: demand.Demand) -> Cell:
    told = _("no task has started")
    if waits.p50 is not None:
        told = _("half of %(count)s started within %(p50)s") % {
            "p50": elapsed(waits.p50.total_seconds()),
            "count": f"{waits.started:,}",
        }
    if waiting.oldest is not None:
        longest = elapsed((db_now() - waiting.oldest).total_seconds())
        told = _("%(told)s; the longest has waited %(longest)s") % {"told": told, "longest": longest}
    return {
        "label": _("p90 wait, last 24 hours"),
        "value": elapsed(waits.p90.total_seconds()) if waits.p90 is not None else UNKNOWN,
        "sub": told,
    }


def _allocated(totals: pieces.Totals) -> Cell:
    lost = totals.offline_cards
    return {
        "label": _("Given out"),
        "value": percent(totals.allocated_pct),
        "unit": _("%(used)s of %(all)s cards")
        % {"used": cards_figure(totals.used_milli), "all": cards_figure(totals.up_milli)},
        "sub": ngettext("%(count)s card out of reach, not counted", "%(count)s cards out of reach, not counted", lost)
        % {"count": lost}
        if lost
        else _("all cards are within reach"),
    }


def _fragmented(totals: pieces.Totals) -> Cell:
    return {
        "label": _("Fragments"),
        "value": percent(totals.fragmented_pct),
        "unit": _("%(cards)s cards") % {"cards": cards_figure(totals.fragment_milli)},
        "sub": _("%(cards)s stranded for lack of CPU or memory") % {"cards": cards_figure(totals.starved_milli)}
        if totals.starved_milli
        else _("idle, and no package on offer fits"),
    }


def percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}%"
