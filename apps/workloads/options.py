"""Work that may take one of several packages: which it was given, and what that costs."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from django.db import transaction

import scheduler
from apps.audit.services import record
from apps.billing.models import Package, PriceVersion
from apps.clusters.models import Accelerator
from apps.common.actor import Actor
from apps.common.money import yuan_rate
from apps.workloads import announce, states
from apps.workloads.models import Attempt, Member, Placement, Workload
from apps.workloads.spec import Option, Spec

EVENT = "given"
"""The kind of the event. Data: `package_id`, `model`, `rate` in fen an hour as text."""


def others_of(workload: Workload, language: str) -> list[str]:
    """The other packages that would do, with their locked prices: `H100 whole card · ¥14.00/h`."""
    options = [option for option in workload.frozen_spec.options if option.package_id != workload.package_id]
    names = Package.objects.in_bulk([option.package_id for option in options])
    rates = _rates(options)
    return [
        f"{names[option.package_id].name(language)} · {yuan_rate(rates[option.price_version_id])}" for option in options
    ]


def dearest_of(options: Sequence[Option]) -> int | None:
    """The price version of the dearest, for which funds are held; None without options."""
    rates = _rates(options)
    return max(rates, key=lambda version: (rates[version], version), default=None)


def _rates(options: Sequence[Option]) -> dict[int, Decimal]:
    rows = PriceVersion.objects.filter(pk__in=[option.price_version_id for option in options])
    return dict(rows.values_list("pk", "rate_fen_per_hour"))


def given_option(spec: Spec, place: scheduler.Place) -> Option | None:
    """The option whose card it gets; None where there was nothing to choose between."""
    if not spec.options or not place.slices:
        return None
    model = Accelerator.objects.values_list("model", flat=True).get(pk=UUID(place.slices[0].device_id))
    return next(option for option in spec.options if option.model == model)


def place_on(
    actor: Actor,
    workload: Workload,
    attempt: Attempt,
    placements: Sequence[Placement],
    members: Sequence[Member],
    option: Option,
) -> bool:
    """Placed, and from now on charged as this option; the log says what it was before."""
    before = {"package": workload.package_id, "price_version": workload.price_version_id}
    terms = {"package_id": option.package_id, "price_version_id": option.price_version_id}
    with transaction.atomic():
        moved = states.place(actor, workload, attempt, placements, members, **terms)
        if moved:
            rate = _rates([option])[option.price_version_id]
            said = {"package_id": option.package_id, "model": option.model, "rate": str(rate)}
            announce.event(actor, workload, EVENT, said)
            record(
                actor,
                action="workload.package_given",
                target=announce.target(workload),
                organisation_id=workload.organisation_id,
                before=before,
                after={"package": option.package_id, "price_version": option.price_version_id, "rate": str(rate)},
            )
        return moved
