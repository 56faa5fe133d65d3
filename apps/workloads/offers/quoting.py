"""What stands beside the button: price, balance, how long it lasts, when it would start, and what is short."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.selectors import Quote
from apps.common.actor import Actor
from apps.common.errors import QuotaExceeded
from apps.tenants import quotas
from apps.workloads.choices import Kind
from apps.workloads.forecast import Forecast, forecasts
from apps.workloads.offers.package_options import options_of, with_options
from apps.workloads.placing import spec_with_place
from apps.workloads.queueing.contract import Contract, contract_for
from apps.workloads.resources import quota_amounts
from apps.workloads.services import highest_priority
from apps.workloads.spec import MOST_MEMBERS, Gpu, Image, Spec
from apps.workloads.waiting import WaitReport, explain


@dataclass(frozen=True, slots=True)
class Priced:
    """One of the packages that would do, with what it costs."""

    package: Package
    quote: Quote


@dataclass(frozen=True, slots=True)
class OneMore:
    """What an offer would be with one member more: `cards` and the rate in fen per hour are of all members."""

    members: int
    cards: int
    rate_fen_per_hour: Decimal
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class Offer:
    """One package as it stands for the actor at this moment.

    `choices`: all that would do, where there are several; `quote` is then of the dearest, for which funds are held.
    """

    package: Package
    quote: Quote
    forecast: Forecast
    quota: QuotaExceeded | None
    kind: Kind
    # Why it would wait, in words; None where it would not.
    report: WaitReport | None = None
    choices: tuple[Priced, ...] = ()
    members: int = 1
    # The same with one member more, where there are several; None where there may be no more of them.
    one_more: Forecast | None = None
    # With how many of them it would start where there is no room for all; None: with all or not at all.
    least: int | None = None

    @property
    def can_start(self) -> bool:
        return self.quote.can_start and self.quota is None

    @property
    def with_one_more(self) -> "OneMore | None":
        if self.one_more is None:
            return None
        members = self.members + 1
        rate = self.quote.rate_fen_per_hour / self.members * members
        return OneMore(members, members * self.package.gpu_count, rate, self.one_more)

    @property
    def starts_now(self) -> bool:
        """Nothing stands in its way: neither money nor quota nor the machines."""
        return self.can_start and self.forecast.starts_now


def offer(
    actor: Actor,
    package: Package,
    outlook: Forecast | None = None,
    *,
    kind: Kind,
    also: Sequence[Package] = (),
    cluster: str | None = None,
    members: int = 1,
    least: int | None = None,
    archs: tuple[str, ...] = (),
) -> Offer:
    """Raises `Conflict` for a package without a price. `outlook` saves asking the scheduler twice on one page.

    `also`: packages that would do as well; `cluster`: the id of the only logical cluster that it may run in. `members`:
    how many start together; prices are of all of them. `least`: with how many it would start where there is no room for
    all; a number that no start takes counts as none. `archs`: the only architectures that would do, in
    `outlook` too.
    """
    resources = with_options(resources_of(package), options_of(package, also))
    least = least if least and least < members else None
    spec = replace(resources, cluster=cluster, members=members, least_members=least, archs=archs)
    one_more = None
    if outlook is None or also or cluster or members > 1:
        larger = [replace(spec, members=members + 1)] if 1 < members < MOST_MEMBERS else []
        outlook, *found = forecasts(actor, [spec, *larger])
        one_more = found[0] if found else None
    priced = _priced(actor, (package, *also), members)
    return Offer(
        package=package,
        quote=max((each.quote for each in priced), key=lambda quote: quote.rate_fen_per_hour),
        forecast=outlook,
        quota=quota_problem(actor, spec, kind),
        kind=kind,
        report=None if outlook.starts_now else explain(outlook.explanation, gpu=spec.gpu, asked=True),
        choices=priced if also else (),
        members=members,
        one_more=one_more,
        least=least,
    )


def _priced(actor: Actor, packages: Sequence[Package], members: int) -> tuple[Priced, ...]:
    return tuple(
        Priced(each, funds.quote(actor, package_id=each.pk, replicas=members, price=each.price_if_read))
        for each in packages
    )


def contract_on(
    actor: Actor,
    package: Package,
    *,
    preemptible: bool,
    priority: int | None = None,
    also: Sequence[Package] = (),
    most: int | None = None,
) -> Contract:
    """Under which contract the actor's work would run on it. `priority`: at most their highest, which None is.

    `most`: their highest, where the page has read it already.
    """
    most = most or highest_priority(actor)
    spec = replace(with_options(resources_of(package), options_of(package, also)), preemptible=preemptible)
    return contract_for(actor.organisation(), spec, priority=min(most, priority or most))


def resources_of(package: Package) -> Spec:
    """A spec that says what `package` takes, before there is anything to run."""
    spec = Spec(
        image=Image(""),
        argv=(),
        cpu_milli=package.cpu_milli,
        memory_mib=package.memory_mib,
        gpu=gpu_of(package),
        rdma=package.rdma,
    )
    return spec_with_place(spec, package)


def gpu_of(package: Package) -> Gpu | None:
    if not package.gpu_count:
        return None
    return Gpu(
        mode=package.gpu_mode,
        count=package.gpu_count,
        model=package.gpu_model or None,
        core_milli=package.gpu_core_milli or 1000,
        memory_mib=package.gpu_memory_mib or 0,
        profile=package.mig_profile or None,
    )


def quota_problem(actor: Actor, spec: Spec, kind: Kind) -> QuotaExceeded | None:
    """What submitting would be refused for now."""
    if actor.user_id is None:
        return None
    return quotas.shortfall(
        organisation_id=actor.organisation(),
        department_id=actor.department_id,
        user_id=actor.user_id,
        amounts=quota_amounts(spec, kind),
    )
