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
from apps.workloads.forecast import Forecast, forecasts
from apps.workloads.resources import quota_amounts


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


def offer(actor: Actor, package: Package, image: Image | None = None) -> Offer:
    return offers(actor, [package], image)[0]


def offers(actor: Actor, packages: list[Package], image: Image | None = None) -> list[Offer]:
    """Offers of several packages against one look at the cluster."""
    specs = [spec_of(package, image or Image(key="", requirements=[])) for package in packages]
    outlooks = forecasts(actor, specs)
    return [
        Offer(
            package=package,
            quote=funds.quote(actor, package_id=package.pk),
            forecast=outlook,
            quota=_quota_problem(actor, package),
        )
        for package, outlook in zip(packages, outlooks, strict=True)
    ]


def _quota_problem(actor: Actor, package: Package) -> QuotaExceeded | None:
    if actor.user_id is None:
        return None
    return quotas.shortfall(
        organisation_id=actor.organisation(),
        department_id=actor.department_id,
        user_id=actor.user_id,
        amounts=quota_amounts(spec_of(package, Image(key="", requirements=[]))),
    )
