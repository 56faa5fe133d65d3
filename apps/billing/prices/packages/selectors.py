"""What is offered at which price."""

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import Resource
from apps.billing.models import Package, PriceVersion
from apps.billing.requests.selectors import usable_packages
from apps.common.actor import Actor
from apps.common.clock import db_now_within
from apps.common.errors import Conflict
from apps.common.permissions import Permission


def packages(actor: Actor, *, active_only: bool = True) -> QuerySet[Package]:
    """Packages that the actor may start on, in their order, each with `price`, the version in force now.

    Left out: what the organisation is not allowed, and what needs an approval that the person has not got. With
    `active_only=False` all there are, for price managers only.
    """
    rows = Package.objects.filter(resource=Resource.COMPUTE).prefetch_related(
        Prefetch("prices", queryset=_in_force(), to_attr=Package.PRICES_IN_FORCE)
    )
    if active_only:
        return usable_packages(actor, rows)
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return rows


def price_on_offer(actor: Actor, package: Package) -> PriceVersion:
    """The price in force of a package as `packages` read it; `Conflict` where it has none."""
    actor.require(Permission.BILLING_VIEW_OWN)
    if package.price is None:
        raise Conflict(_("This package is not on offer."), hint=_("Choose another package."))
    return package.price


def current_price(package_id: int) -> PriceVersion | None:
    return _in_force().filter(package_id=package_id).select_related("package").first()


def price_history(actor: Actor, *, package_id: int) -> QuerySet[PriceVersion]:
    """All versions of a package, newest first."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return PriceVersion.objects.filter(package_id=package_id).order_by("-number")


def _in_force() -> QuerySet[PriceVersion]:
    at = db_now_within()
    open_or_later = Q(effective_to__isnull=True) | Q(effective_to__gt=at)
    return PriceVersion.objects.filter(open_or_later, effective_from__lte=at)
