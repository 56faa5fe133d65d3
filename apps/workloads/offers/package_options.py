"""One of several packages: the work starts on whichever has room first, and is charged as the one that it got.

It keeps the CPU and memory of the package chosen first; only the card differs, and the price. Each price version is
locked at submission, in the frozen spec. Funds are held for the dearest.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.clusters.models import Accelerator
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.workloads.models import Workload
from apps.workloads.placing import read_zones, zone_of
from apps.workloads.spec import Option, Spec
from scheduler import Mode

MOST = 4


def interchangeable_packages(chosen: Package, offered: Iterable[Package]) -> list[Package]:
    """Of what is on offer, what may be taken as well: as many cards of another model and the same maker, cut the
    same way, at least as much of everything else, in the same place."""
    alike = [package for package in offered if package.price is not None and _alike(chosen, package)]
    makers = _makers([chosen, *alike]) if alike else {}
    own = makers.get(chosen.gpu_model)
    return [package for package in alike if own is not None and makers.get(package.gpu_model) == own]


def _makers(packages: Iterable[Package]) -> dict[str, str]:
    """Who makes the cards, by model, of all that were ever here: a program for one maker's cards runs on no other's."""
    models = {package.gpu_model for package in packages}
    return dict(Accelerator.everything.filter(model__in=models).order_by().values_list("model", "vendor").distinct())


def _alike(chosen: Package, other: Package) -> bool:
    if not (chosen.gpu_count and chosen.gpu_model and other.gpu_model) or chosen.gpu_model == other.gpu_model:
        return False
    larger = all(
        getattr(other, name) >= getattr(chosen, name) for name in ("cpu_milli", "memory_mib", "gpu_memory_mib")
    )
    return larger and chosen.rdma == other.rdma and _cut(chosen) == _cut(other) and zone_of(chosen) == zone_of(other)


def _cut(package: Package) -> tuple[object, ...]:
    """Slices have a size of their own; of a whole card one gets what the card has."""
    slice_mib = 0 if package.gpu_mode == Mode.WHOLE else package.gpu_memory_mib
    return package.gpu_mode, package.gpu_count, package.gpu_core_milli or 1000, slice_mib, package.mig_profile


def choose_also(chosen: Package, offered: Sequence[Package], ids: Iterable[int]) -> tuple[Package, ...]:
    """The packages with these ids, each of another model. Raises `Invalid` naming `also`."""
    wanted = list(dict.fromkeys(ids))
    fitting = {package.pk: package for package in interchangeable_packages(chosen, offered)}
    if len(wanted) > MOST:
        raise Invalid.field("also", _("At most %(most)s other packages.") % {"most": MOST})
    if not set(wanted) <= set(fitting):
        raise Invalid.field(
            "also",
            _(
                "Choose among packages with as many cards of another model, cut the same way, with at least as much "
                "CPU and memory."
            ),
        )
    found = tuple(fitting[pk] for pk in wanted)
    if len({package.gpu_model for package in found}) < len(found):
        raise Invalid.field("also", _("Two of these have the same card: choose one of them."))
    return found


def also_named(actor: Actor, chosen: Package, ids: Collection[int]) -> tuple[Package, ...]:
    """The same among what the actor may use."""
    offered = list(funds.packages(actor).filter(pk__in=ids)) if ids else []
    read_zones([chosen, *offered])
    return choose_also(chosen, offered, ids)


def spec_on_any(actor: Actor, spec: Spec, chosen: Package, also_ids: Collection[int]) -> Spec:
    """The spec of work on `chosen` that may take these as well, at the prices of now. Raises `Invalid`."""
    return with_options(spec, options_of(chosen, also_named(actor, chosen, also_ids)))


def options_of(chosen: Package, also: Sequence[Package]) -> tuple[Option, ...]:
    """Each with its price of now, the one chosen first in front; none where there is nothing to choose between."""
    if not also:
        return ()
    return tuple(
        Option(package.pk, package.price.pk, package.gpu_model)
        for package in (chosen, *also)
        if package.price is not None
    )


def with_options(spec: Spec, options: tuple[Option, ...]) -> Spec:
    """The spec on any of the options' cards."""
    if not options or spec.gpu is None:
        return spec
    models = tuple(option.model for option in options)
    return replace(spec, gpu=replace(spec.gpu, model=None, any_of=models), options=options)


def chosen_package_id(workload: Workload) -> int:
    """The package that was chosen first, whatever it was given since."""
    options = workload.frozen_spec.options
    return options[0].package_id if options else workload.package_id


def also_of(workload: Workload) -> tuple[int, ...]:
    """Ids of the other packages that would do."""
    return tuple(option.package_id for option in workload.frozen_spec.options[1:])
