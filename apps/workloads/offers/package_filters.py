"""Filters over the packages of a form: by model, and by what matters before a start. The browser narrows the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.billing.choices import Isolation
from apps.workloads.fit.hints import Hint
from apps.workloads.offers.picker import PackageChoice

# So many rows are read faster than filtered.
FEW = 5
NOW, ISOLATED, FITS = "now", "isolated", "fits"
# Nobody else is on the card, or hardware divides it.
_ISOLATING = (Isolation.WHOLE, Isolation.HARDWARE)


@dataclass(frozen=True, slots=True)
class PackageFilter:
    """One chip. `facet` is what `facets` gives the rows that it keeps; `count` of them."""

    facet: str
    label: str
    count: int
    hint: str = ""


@dataclass(frozen=True, slots=True)
class PackageFilters:
    """`models` exclude each other, `conditions` add up."""

    models: tuple[PackageFilter, ...]
    conditions: tuple[PackageFilter, ...]


def facets(choice: PackageChoice, hints: Mapping[int, Hint]) -> set[str]:
    """What a package does not say to fit counts as fitting unless the last run proves otherwise."""
    found = {_model_facet(choice)}
    if choice.forecast.starts_now and choice.rate_fen_per_hour is not None:
        found.add(NOW)
    if Isolation(choice.package.isolation) in _ISOLATING:
        found.add(ISOLATED)
    hint = hints.get(choice.package.pk)
    if hint is None or hint.fits:
        found.add(FITS)
    return found


def filters_of(choices: Sequence[PackageChoice], hints: Mapping[int, Hint]) -> PackageFilters | None:
    """The chips that tell something apart: a model among several, a condition that some rows meet and others do not."""
    if len(choices) <= FEW:
        return None
    of_rows = [facets(choice, hints) for choice in choices]

    def chip(facet: str, label: str, hint: str = "") -> PackageFilter:
        return PackageFilter(facet, label, sum(facet in row for row in of_rows), hint)

    labels = {_model_facet(choice): choice.package.gpu_model or _("No GPU") for choice in choices}
    models = tuple(chip(facet, label) for facet, label in labels.items())
    conditions = (
        chip(NOW, _("Starts now")),
        chip(ISOLATED, _("Isolated by hardware"), _("Whole cards and MIG partitions: nobody else is on that memory.")),
        chip(FITS, _("Fits"), _("Without what is too small for what was used at most the last time.")),
    )
    return PackageFilters(
        models if len(models) > 1 else (), tuple(each for each in conditions if 0 < each.count < len(choices))
    )


def _model_facet(choice: PackageChoice) -> str:
    """Without spaces, which part facets: `model:RTX_4090`, `model:` without a card."""
    return "model:" + "_".join(choice.package.gpu_model.split())
