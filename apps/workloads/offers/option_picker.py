"""The packages that may be taken as well as the one that is chosen, as the forms list them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms

from apps.billing.models import Package
from apps.billing.prices.own import own_terms
from apps.common.actor import Actor
from apps.workloads.offers.alternatives import difference_words
from apps.workloads.offers.package_options import interchangeable_packages
from apps.workloads.placing import read_zones


class PackagesField(forms.TypedMultipleChoiceField):
    """Ids of packages. Which of them go together is for the service to say."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=int, required=False, **kwargs)

    def valid_value(self, value: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class AlsoRow:
    """One that would do, at what the organisation pays; `more`: what it costs against the one that is chosen."""

    package: Package
    list_rate_fen_per_hour: Decimal
    rate_fen_per_hour: Decimal
    more: str
    ticked: bool


def also_context(actor: Actor, form: forms.Form, packages: Iterable[Package]) -> dict[str, Any]:
    """`also`: rows for the package that is chosen. `also_anew`: the list on the page is for another package."""
    offered = list(packages)
    chosen = _chosen(form, offered)
    values = {str(value) for value in form["also"].value() or ()}
    rows = _rows(actor, chosen, offered, values) if chosen else []
    return {
        "also": rows,
        "also_open": any(row.ticked for row in rows),
        "also_for": chosen.pk if chosen else "",
        "also_anew": form.is_bound and form.data.get("also_for", "") != str(chosen.pk if chosen else ""),
    }


def ticked_packages(form: forms.Form, chosen: Package, offered: Iterable[Package]) -> tuple[Package, ...]:
    """Those that are ticked and would do, one of each model: for a quote, before anything is refused."""
    values = {str(value) for value in form["also"].value() or ()}
    if not values:
        return ()
    packages = [package for package in offered if str(package.pk) in values]
    read_zones([chosen, *packages])
    return tuple(
        {package.gpu_model: package for package in reversed(interchangeable_packages(chosen, packages))}.values()
    )[::-1]


def _chosen(form: forms.Form, offered: Sequence[Package]) -> Package | None:
    value = str(form["package"].value() or "")
    return next((package for package in offered if str(package.pk) == value), None)


def _rows(actor: Actor, chosen: Package, offered: Sequence[Package], values: Collection[str]) -> list[AlsoRow]:
    read_zones(offered)
    found = interchangeable_packages(chosen, offered)
    if not found:
        return []
    own = own_terms(actor)
    usual = own.rate(_listed(chosen))
    rows = ((each, _listed(each), own.rate(_listed(each))) for each in found)
    return [
        AlsoRow(each, listed, rate, difference_words(rate - usual), str(each.pk) in values)
        for each, listed, rate in rows
    ]


def _listed(package: Package) -> Decimal:
    return package.price.rate_fen_per_hour if package.price else Decimal(0)
