"""Discounts: the one in force, and what there was."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from apps.billing.models import Discount
from apps.common.actor import Actor
from apps.common.clock import db_now, once_a_moment
from apps.common.permissions import Permission


@once_a_moment
def discount_at(organisation_id: UUID, at: datetime) -> Discount | None:
    """The version in force for what an organisation starts or pays in advance at this moment."""
    found: Discount | None = in_force(at).filter(organisation_id=organisation_id).first()
    return found


def in_force(at: datetime | Now) -> QuerySet[Discount]:
    """The versions in force at this moment, at most one for each organisation."""
    open_or_later = Q(effective_to__isnull=True) | Q(effective_to__gt=at)
    rows: QuerySet[Discount] = Discount.objects.filter(open_or_later, effective_from__lte=at)
    return rows


def discounts(actor: Actor) -> QuerySet[Discount]:
    """Every version of every organisation, newest first."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    rows: QuerySet[Discount] = Discount.objects.select_related("organisation")
    return rows.order_by("-created_at", "-pk")


def own_discount(actor: Actor) -> Discount | None:
    """The one that the actor's organisation has now."""
    actor.require(Permission.BILLING_VIEW_OWN)
    return discount_at(actor.organisation(), db_now())
