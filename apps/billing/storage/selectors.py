"""The price of storage by the GiB and hour, and its terms at any moment."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.billing.choices import Resource
from apps.billing.models import Discount, Package, PriceVersion
from apps.common.actor import Actor
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class StorageTerms:
    """Every version of the price and of the organisations' discounts, oldest first."""

    prices: Sequence[PriceVersion]
    discounts: Mapping[UUID, Sequence[Discount]]

    def price_at(self, moment: datetime) -> PriceVersion | None:
        return next((each for each in self.prices if _holds(each, moment)), None)

    def discount_at(self, organisation_id: UUID, moment: datetime) -> Discount | None:
        return next((each for each in self.discounts.get(organisation_id, ()) if _holds(each, moment)), None)

    def edges(self, organisation_id: UUID, after: datetime, until: datetime) -> list[datetime]:
        """Moments in (after, until] at which something began or ended, in their order."""
        versions: tuple[PriceVersion | Discount, ...] = (*self.prices, *self.discounts.get(organisation_id, ()))
        moments = {moment for each in versions for moment in (each.effective_from, each.effective_to) if moment}
        return sorted(moment for moment in moments if after < moment <= until)


def _holds(version: PriceVersion | Discount, moment: datetime) -> bool:
    return version.effective_from <= moment and (version.effective_to is None or moment < version.effective_to)


def storage_terms() -> StorageTerms:
    """There are few versions: people write them."""
    prices = PriceVersion.objects.filter(package__resource=Resource.STORAGE).select_related("package")
    discounts: dict[UUID, list[Discount]] = defaultdict(list)
    for each in Discount.objects.order_by("organisation_id", "number"):
        discounts[each.organisation_id].append(each)
    return StorageTerms(list(prices.order_by("number")), discounts)


def storage_package() -> Package | None:
    """There is one as soon as a price was set."""
    return Package.objects.filter(resource=Resource.STORAGE).first()


def storage_price(at: datetime) -> PriceVersion | None:
    """Fen of one GiB for an hour (of `rate_fen_per_hour`); None: it is free."""
    open_or_later = Q(effective_to__isnull=True) | Q(effective_to__gt=at)
    rows = PriceVersion.objects.filter(open_or_later, package__resource=Resource.STORAGE, effective_from__lte=at)
    return rows.select_related("package").first()


def storage_price_history(actor: Actor) -> QuerySet[PriceVersion]:
    """All versions, newest first."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return PriceVersion.objects.filter(package__resource=Resource.STORAGE).order_by("-number")
