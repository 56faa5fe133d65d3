"""`{% load fit %}`: what a run used at most, which smaller package would have done, what that says of the next one."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from apps.billing.models import Package
from apps.clusters.choices import AcceleratorMode, Limiter
from apps.common.formatting import cores, gpu_memory, memory, percent
from apps.workloads import selectors
from apps.workloads.fit.hints import Hint
from apps.workloads.fit.peaks import MARGIN
from apps.workloads.fit.smaller import LONG_ENOUGH_S, Fit, fit_of
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.package_filters import facets, filters_of
from apps.workloads.offers.picker import PackageChoice

register = template.Library()
_LIMITERS = (Limiter.HAMI, Limiter.MPS)


@register.inclusion_tag("workloads/fit.html", takes_context=True)
def fit_card(context: Context, workload: Workload | None, attempts: Sequence[Attempt] | None = None) -> dict[str, Any]:
    """The card, or nothing for what never ran. `attempts` newest first, where the page has read them already."""
    if workload is None:
        return {"fit": None}
    tries = selectors.attempts(workload) if attempts is None else attempts
    fit = fit_of(context["request"].actor, workload, tries)
    return {
        "fit": fit if fit.peaks.ran_s else None,
        "workload": workload,
        "rows": _rows(fit),
        "minutes": LONG_ENOUGH_S // 60,
        "margin": percent(100 * MARGIN),
    }


def _rows(fit: Fit) -> list[dict[str, Any]]:
    """Each resource with the most that was used of it, as a bar; what was not measured is left out."""
    peaks, had = fit.peaks, fit.held.size
    measured = [
        (_("GPU memory"), peaks.gpu_memory_mib, had.gpu_memory_mib, gpu_memory),
        (_("CPU"), peaks.cpu_milli, had.cpu_milli, cores),
        (_("Memory"), peaks.memory_mib, had.memory_mib, memory),
    ]
    rows = [
        {"label": label, "used": used, "limit": limit, "value": _of(words(used), words(limit))}
        for label, used, limit, words in measured
        if used is not None and limit
    ]
    if had.gpu_count and peaks.gpu_util_pct is not None:
        used = round(peaks.gpu_util_pct)
        rows.insert(0, {"label": _("GPU"), "used": used, "limit": 100, "value": percent(used)})
    return rows


def _of(used: str, limit: str) -> str:
    return _("%(used)s of %(limit)s") % {"used": used, "limit": limit}


@register.filter
def limited_by(attempt: Attempt | None) -> str:
    """What holds the attempt's vGPU slice to its memory on its machine: ` · by HAMi-core`; "" for anything else."""
    pieces = attempt.placements.all() if attempt is not None else ()
    cards = [piece.accelerator for piece in pieces if piece.accelerator is not None]
    held = next((card for card in cards if card.mode == AcceleratorMode.VGPU and card.limiter in _LIMITERS), None)
    return "" if held is None else " · " + _("by %(limiter)s") % {"limiter": held.get_limiter_display()}


@register.filter
def said_of(hints: Mapping[int, Hint] | None, package: Package) -> str:
    """What the last run says about this package."""
    hint = (hints or {}).get(package.pk)
    return hint.words if hint is not None else ""


@register.filter
def facets_of(choice: PackageChoice, hints: Mapping[int, Hint] | None) -> str:
    """By which filters this row is found: `data-facets`."""
    return " ".join(sorted(facets(choice, hints or {})))


@register.inclusion_tag("workloads/package_filters.html")
def package_filters(choices: Sequence[PackageChoice], hints: Mapping[int, Hint] | None) -> dict[str, Any]:
    """Filters above the packages, or nothing where they are few enough to be read as they are."""
    return {"filters": filters_of(choices, hints or {}), "count": len(choices)}
