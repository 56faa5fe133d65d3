"""Sentences about scenarios: what side B changes, what went wrong."""

from collections.abc import Callable
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.clusters.choices import AcceleratorMode
from apps.common.formatting import UNKNOWN, duration
from apps.common.money import yuan_rate
from apps.whatif.changes import Change
from apps.whatif.choices import ChangeKind
from apps.whatif.models import Scenario
from apps.whatif.working import FAILURES
from scheduler.types import WHOLE_MILLI


def chips(changes: tuple[Change, ...], *, money: bool) -> list[str]:
    """A few words for each change; a price only to those who may see prices."""
    return [
        _CHIPS[change.kind](change)
        if money or change.kind is not ChangeKind.PRICE
        else _("%(name)s: another price") % {"name": change.label}
        for change in changes
    ]


def failure(scenario: Scenario) -> str:
    """Why it failed."""
    known = FAILURES.get(scenario.error)
    return scenario.error if known is None else _(known)


def card_count(milli: int) -> str:
    """`5.25`: cards from thousandths."""
    return f"{(Decimal(milli) / WHOLE_MILLI).normalize():f}"


def _guarantee(change: Change) -> str:
    values = {
        "name": change.label,
        "was": card_count(change.was or 0),
        "now": card_count(change.value),
        "model": change.model,
    }
    if change.model:
        return _("%(name)s: %(was)s → %(now)s %(model)s guaranteed") % values
    return _("%(name)s: %(was)s → %(now)s cards guaranteed") % values


def _weight(change: Change) -> str:
    return _("%(name)s: weight %(was)s → %(now)s") % {"name": change.label, "was": change.was, "now": change.value}


def _priority(change: Change) -> str:
    return _("%(name)s: priority %(now)s") % {"name": change.label, "now": change.value}


def _price(change: Change) -> str:
    was = UNKNOWN if change.rate_was is None else yuan_rate(change.rate_was)
    now = yuan_rate(change.rate or Decimal(0))
    return _("%(name)s: %(was)s → %(now)s") % {"name": change.label, "was": was, "now": now}


def _min_runtime(change: Change) -> str:
    values = {"was": duration(change.was), "now": duration(change.value)}
    return _("Minimum run %(was)s → %(now)s") % values


def _mode(change: Change) -> str:
    mode = AcceleratorMode(change.mode).label
    layout = ", ".join(f"{name} × {count}" for name, count in change.layout)
    values = {"node": change.label, "cards": _ranges(change.cards), "mode": mode, "layout": layout}
    if change.cards:
        words = _("%(node)s cards %(cards)s: %(mode)s") % values
    else:
        words = _("%(node)s, all cards: %(mode)s") % values
    return _("%(words)s (%(layout)s)") % {"words": words, "layout": layout} if layout else words


def _ranges(indexes: tuple[int, ...]) -> str:
    """`0–3, 6` for 0, 1, 2, 3, 6."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _node_add(change: Change) -> str:
    values = {"count": change.value, "name": change.label}
    return ngettext("%(count)s node more like %(name)s", "%(count)s nodes more like %(name)s", change.value) % values


def _node_remove(change: Change) -> str:
    return _("without %(name)s") % {"name": change.label}


_CHIPS: dict[ChangeKind, Callable[[Change], str]] = {
    ChangeKind.GUARANTEE: _guarantee,
    ChangeKind.WEIGHT: _weight,
    ChangeKind.PRIORITY: _priority,
    ChangeKind.PRICE: _price,
    ChangeKind.MIN_RUNTIME: _min_runtime,
    ChangeKind.MODE: _mode,
    ChangeKind.NODE_ADD: _node_add,
    ChangeKind.NODE_REMOVE: _node_remove,
}
