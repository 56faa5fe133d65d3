"""What stands beside the button: price, balance, how long it lasts, when it would start, and what is short."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.selectors import Quote
from apps.common.actor import Actor
from apps.common.errors import QuotaExceeded
from apps.tenants import quotas
from apps.workloads.choices import Kind
from apps.workloads.forecast import Forecast, forecast
from apps.workloads.offers.package_options import either, options_of
from apps.workloads.placing import placed
from apps.workloads.queueing.contract import Contract, contract_for
from apps.workloads.resources import quota_amounts
from apps.workloads.services import highest_priority
from apps.workloads.spec import Gpu, Image, Spec
from apps.workloads.waiting import WaitReport, explain


@dataclass(frozen=True, slots=True)
class Priced:
    """One of the packages that would do, with what it costs."""

    package: Package
    quote: Quote


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

    @property
    def can_start(self) -> bool:
        return self.quote.can_start and self.quota is None

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
) -> Offer:
    """Raises `Conflict` for a package without a price. `outlook` saves asking the scheduler twice on one page.

    `also`: packages that would do as well; `cluster`: the id of the only logical cluster that it may run in.
    """
    spec = replace(either(resources_of(package), options_of(package, also)), cluster=cluster)
    if outlook is None or also or cluster:
        outlook = forecast(actor, spec)
    priced = tuple(Priced(each, funds.quote(actor, package_id=each.pk)) for each in (package, *also))
    return Offer(
        package=package,
        quote=max((each.quote for each in priced), key=lambda quote: quote.rate_fen_per_hour),
        forecast=outlook,
        quota=quota_problem(actor, spec, kind),
        kind=kind,
        report=None if outlook.starts_now else explain(outlook.explanation, gpu=spec.gpu, asked=True),
        choices=priced if also else (),
    )


def contract_on(
    actor: Actor,
    package: Package,
    *,
    preemptible: bool,
    priority: int | None = None,
    also: Sequence[Package] = (),
) -> Contract:
    """Under which contract the actor's work would run on it. `priority`: at most their highest, which None is."""
    most = highest_priority(actor)
    spec = replace(either(resources_of(package), options_of(package, also)), preemptible=preemptible)
    return contract_for(actor.organisation(), spec, priority=min(most, priority or most))


def resources_of(package: Package) -> Spec:
    """A spec that says what `package` takes, before there is anything to run."""
    spec = Spec(
        image=Image(""),
        argv=(),
        cpu_milli=package.cpu_milli,
        memory_mib=package.memory_mib,
        gpu=gpu_of(package),
    )
    return placed(spec, package)


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
