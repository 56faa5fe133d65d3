"""Organisations that are short of money, for the finance staff."""

from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.billing.arrears.selectors import Standing, standing_of
from apps.billing.choices import AccountKind, ArrearsStatus
from apps.billing.models import Account, ArrearsState
from apps.common.actor import Actor
from apps.common.permissions import Permission


def in_arrears(actor: Actor) -> QuerySet[ArrearsState]:
    """All organisations in arrears, with `balance_fen` and `credit_fen`, the closest to a release first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    purse = Account.objects.filter(organisation=OuterRef("pk"), kind=AccountKind.CASH).order_by()
    rows = ArrearsState.objects.exclude(status=ArrearsStatus.NORMAL).select_related("organisation")
    return rows.annotate(
        balance_fen=Coalesce(Subquery(purse.values("balance_fen")[:1]), 0, output_field=BigIntegerField()),
        credit_fen=Coalesce(Subquery(purse.values("credit_limit_fen")[:1]), 0, output_field=BigIntegerField()),
    ).order_by("since", "pk")


def ends_at(state: ArrearsState) -> datetime | None:
    """When the present state ends by itself: the end of the grace, or the release. None: it does not."""
    found: Standing = standing_of(state)
    return found.grace_until or found.release_at


def with_ends(rows: Any) -> list[dict[str, Any]]:
    return [{"state": row, "ends_at": ends_at(row)} for row in rows]
