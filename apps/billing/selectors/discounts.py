"""Discounts: the one in force, and what there was."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Q

from apps.billing.arithmetic import NOTHING_OFF
from apps.billing.models import Discount


def discount_at(organisation_id: UUID, at: datetime) -> Discount | None:
    """The version that an organisation's sessions opened at this moment keep."""
    open_or_later = Q(effective_to__isnull=True) | Q(effective_to__gt=at)
    rows = Discount.objects.filter(open_or_later, organisation_id=organisation_id, effective_from__lte=at)
    found: Discount | None = rows.first()
    return found


def off_at(organisation_id: UUID, at: datetime) -> Decimal:
    """The share that is taken off then; zero without a discount."""
    found = discount_at(organisation_id, at)
    return found.off if found else NOTHING_OFF
