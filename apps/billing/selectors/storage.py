"""The price of what is kept, by the GiB and hour."""

from datetime import datetime

from django.db.models import Q, QuerySet

from apps.billing.choices import Resource
from apps.billing.models import Package, PriceVersion
from apps.common.actor import Actor
from apps.common.permissions import Permission


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
