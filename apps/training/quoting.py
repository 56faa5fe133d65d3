"""What stands beside the button: price, balance, how long it lasts, when it would start, and what is short."""

from dataclasses import dataclass

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.selectors import Quote
from apps.common.actor import Actor
from apps.common.errors import QuotaExceeded
from apps.registry.models import Image
from apps.tenants import quotas
from apps.training.services import spec_of
from apps.workloads.forecast import Forecast, forecast
from apps.workloads.resources import quota_amounts
from apps.workloads.spec import Spec


@dataclass(frozen=True, slots=True)
class Offer:
    """One package as it stands for the actor at this moment."""

    package: Package
    quote: Quote
    forecast: Forecast
    quota: QuotaExceeded | None

    @property
    def can_start(self) -> bool:
        return self.quote.can_start and self.quota is None


def offer(actor: Actor, package: Package, outlook: Forecast | None = None) -> Offer:
    """Raises `Conflict` for a package without a price. `outlook` saves asking the scheduler twice on one page."""
    return Offer(
        package=package,
        quote=funds.quote(actor, package_id=package.pk),
        forecast=outlook or forecast(actor, resources_of(package)),
        quota=quota_problem(actor, package),
    )


def resources_of(package: Package) -> Spec:
    """A spec that says what a run on `package` takes, before there is anything to run."""
    return spec_of(package, Image(key="", requirements=[]))


def quota_problem(actor: Actor, package: Package) -> QuotaExceeded | None:
    """What submitting would be refused for now."""
    if actor.user_id is None:
        return None
    return quotas.shortfall(
        organisation_id=actor.organisation(),
        department_id=actor.department_id,
        user_id=actor.user_id,
        amounts=quota_amounts(resources_of(package)),
    )
