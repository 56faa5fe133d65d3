"""Other packages on which waiting work would start at this moment, and what each costs against the present one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.billing import selectors as funds
from apps.billing.funds.quotes import StartFunds, blocking_arrears, start_funds
from apps.billing.models import Package
from apps.billing.prices.own import OwnPrices
from apps.clusters.models import Accelerator
from apps.common.actor import Actor
from apps.common.money import yuan_rate
from apps.common.permissions import Permission
from apps.tenants import quotas
from apps.tenants.quotas.amounts import Key
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.explaining.hypothetical import MOST, Forecast, asking
from apps.workloads.fit.peaks import Peaks, peaks_of, size_of
from apps.workloads.fit.smaller import strength
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.quoting import resources_of
from apps.workloads.placing import is_simulated, read_zones
from apps.workloads.resources import quota_amounts
from apps.workloads.spec import Spec

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Alternative:
    """What the organisation pays, and how much more than now, below zero where it is cheaper. `room`: for how many.

    `effects`: what else is different, in words. `weaker`: it isolates less than the present package.
    """

    package: Package
    list_rate_fen_per_hour: Decimal
    rate_fen_per_hour: Decimal
    more_fen_per_hour: Decimal
    room: int
    weaker: bool
    effects: tuple[str, ...]

    @property
    def plenty(self) -> bool:
        return self.room >= MOST

    @property
    def difference(self) -> str:
        return difference_words(self.more_fen_per_hour)


def difference_words(more_fen_per_hour: Decimal) -> str:
    """`¥3.00/h less`, `¥1.20/h more`, `the same price`."""
    if not more_fen_per_hour:
        return _("the same price")
    words = _("%(rate)s more") if more_fen_per_hour > 0 else _("%(rate)s less")
    return words % {"rate": yuan_rate(abs(more_fen_per_hour))}


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`peak_mib`: GPU memory on the fullest card of an earlier attempt, by which what is too small was left out.

    `rate_fen_per_hour`: what the present package would cost.
    """

    rows: tuple[Alternative, ...] = ()
    peak_mib: int | None = None
    too_small: int = 0
    rate_fen_per_hour: Decimal = Decimal(0)


def would_start_now(actor: Actor, workload: Workload, attempts: Sequence[Attempt] = ()) -> Alternatives:
    """For work that waits: packages that its owner may use, that money and quota reach for once it lets go, and on
    which it would start at once, the most alike first. `attempts`: earlier ones of the same work."""
    rights = (kinds.kind_of(workload).rights.use, Permission.BILLING_VIEW_OWN)
    if actor.user_id != workload.owner_id or not all(actor.may(right) for right in rights):
        return Alternatives()
    peaks = peaks_of(attempts)
    offered = _offered(actor, workload)
    fitting = [package for package in offered if _large_enough(package, peaks)]
    has = start_funds(actor.organisation())
    reachable = _affordable(actor, workload, has, [p for p in fitting if _quota_allows(actor, workload, p)])
    specs = {package.pk: _spec_on(package, workload) for package in reachable}
    with asking(actor, priority=workload.priority, instead_of=workload.pk) as ask:
        outlooks = ask.forecasts([specs[package.pk] for package in reachable])
        starting = [package for package, then in zip(reachable, outlooks, strict=True) if then.starts_now]
        rows = [_row(workload, package, has.own, ask.room(specs[package.pk])) for package in starting]
    rows.sort(key=lambda row: _unlike(workload.frozen_spec, row))
    paid = has.own.rate(workload.price_version.rate_fen_per_hour) * workload.member_count
    return Alternatives(tuple(rows[:SHOWN]), peaks.gpu_memory_mib, len(offered) - len(fitting), paid)


def outlook(actor: Actor, workload: Workload, package: Package) -> Forecast:
    """What would become of the work on this package, were it to leave the queue for it now."""
    spec = _spec_on(package, workload)
    with asking(actor, priority=workload.priority, instead_of=workload.pk) as ask:
        return ask.forecast(spec)


def _spec_on(package: Package, workload: Workload) -> Spec:
    """What the work would take on this package, with all of its members and the image that it has."""
    kept, size = workload.frozen_spec, resources_of(package)
    return replace(size, members=kept.members, least_members=kept.least_members, archs=kept.archs)


def _offered(actor: Actor, workload: Workload) -> list[Package]:
    """Of the same world, priced, and with a GPU for work that asked for one and cannot choose to do without."""
    packages = [package for package in funds.packages(actor).exclude(pk=workload.package_id) if package.price]
    read_zones(packages)
    needs_gpu = kinds.kind_of(workload).keeps_gpu and workload.frozen_spec.gpu is not None
    return [
        package
        for package in packages
        if is_simulated(package) == workload.simulated and (package.gpu_count or not needs_gpu)
    ]


def _large_enough(package: Package, peaks: Peaks) -> bool:
    if peaks.memory_mib is not None and package.memory_mib < peaks.memory_mib:
        return False
    if peaks.gpu_memory_mib is None or not package.gpu_count:
        return True
    cards = Accelerator.objects.filter(model=package.gpu_model) if package.gpu_model else Accelerator.objects.all()
    smallest = cards.order_by("memory_mib").values_list("memory_mib", flat=True).first()
    return size_of(package, smallest or 0).gpu_memory_mib >= peaks.gpu_memory_mib


def _quota_allows(actor: Actor, workload: Workload, package: Package) -> bool:
    """Of what the package takes, what the work holds already need not be free."""
    kind = Kind(workload.kind)
    amounts = Counter[Key]()
    amounts.update(quota_amounts(_spec_on(package, workload), kind))
    amounts.subtract(quota_amounts(workload.frozen_spec, kind))
    short = quotas.shortfall(
        organisation_id=workload.organisation_id,
        department_id=workload.department_id,
        user_id=workload.owner_id,
        amounts=amounts,
    )
    return short is None


def _affordable(actor: Actor, workload: Workload, has: StartFunds, packages: Sequence[Package]) -> list[Package]:
    """What is held for the start now becomes available."""
    if not packages:
        return []
    blocked = blocking_arrears(actor.organisation())
    held = has.own.hour(workload.price_version.rate_fen_per_hour, workload.member_count)
    then = replace(has, available_fen=has.available_fen + held)
    count = workload.member_count
    return [p for p in packages if (price := _listed(p) * count) == 0 or (not blocked and then.pay_for(p, price))]


def _listed(package: Package) -> Decimal:
    return package.price.rate_fen_per_hour if package.price else Decimal(0)


def _row(workload: Workload, package: Package, own: OwnPrices, room: int) -> Alternative:
    listed = _listed(package) * workload.member_count
    rate = own.rate(listed)
    return Alternative(
        package=package,
        list_rate_fen_per_hour=listed,
        rate_fen_per_hour=rate,
        more_fen_per_hour=rate - own.rate(workload.price_version.rate_fen_per_hour) * workload.member_count,
        room=room,
        weaker=strength(package) > strength(workload.package),
        effects=tuple(_effects(workload.frozen_spec, resources_of(package))),
    )


def _effects(now: Spec, then: Spec) -> list[str]:
    """What changes besides the price."""
    if now.gpu is None or then.gpu is None:
        return [] if now.gpu is None else [_("without a GPU")]
    found = []
    if then.gpu.model and then.gpu.model != now.gpu.model:
        found.append(then.gpu.model)
    if then.gpu.count != now.gpu.count:
        words = ngettext("%(count)s card instead of %(was)s", "%(count)s cards instead of %(was)s", then.gpu.count)
        found.append(words % {"count": then.gpu.count, "was": now.gpu.count})
    if then.gpu.core_milli < now.gpu.core_milli:
        share = {"share": f"{then.gpu.core_milli / 10:g}"}
        found.append(_("%(share)s%% of a card's compute") % share)
    return found


def _unlike(asked: Spec, row: Alternative) -> tuple[bool, int, bool, Decimal]:
    """Other compute counts most, then less isolation, then money."""
    spec = resources_of(row.package)
    return not spec.gpu and bool(asked.gpu), abs(spec.gpu_milli - asked.gpu_milli), row.weaker, row.rate_fen_per_hour
