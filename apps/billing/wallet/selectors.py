"""The wallet over time: past balances, and what is held now."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, F, QuerySet, Sum, When
from django.db.models.functions import TruncHour

from apps.billing.funds.quotes import wallet_row
from apps.billing.models import Hold, Transfer
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class BalancePoint:
    at: datetime
    balance_fen: int


def balance_history(actor: Actor, *, since: datetime) -> list[BalancePoint]:
    """The organisation's balance at each full hour with a movement after `since`, and now; oldest first.

    Computed backwards from the present balance, so that no earlier row is read.
    """
    actor.require(Permission.BILLING_VIEW_OWN)
    wallet, now = wallet_row(actor.organisation()), db_now()
    points = [BalancePoint(now, wallet.balance_fen)]
    balance = wallet.balance_fen
    for hour, change in _changes_by_hour(wallet.pk, since):
        end = min(hour + timedelta(hours=1), now)
        if end < points[-1].at:
            points.append(BalancePoint(end, balance))
        balance -= change
        points.append(BalancePoint(max(hour, since), balance))
    if points[-1].at > since and balance:
        points.append(BalancePoint(since, balance))
    return points[::-1]


def _changes_by_hour(wallet_id: int | None, since: datetime) -> list[tuple[datetime, int]]:
    """(hour, fen that came in less fen that went out), the newest hour first."""
    if wallet_id is None:
        return []
    rows = Transfer.objects.filter(at__gte=since)
    moved = rows.filter(credit_id=wallet_id) | rows.filter(debit_id=wallet_id)
    signed = Case(When(credit_id=wallet_id, then=F("amount_fen")), default=-F("amount_fen"))
    grouped = moved.order_by().values(hour=TruncHour("at")).annotate(change=Sum(signed)).order_by("-hour")
    return [(row["hour"], int(row["change"])) for row in grouped]


def open_holds(actor: Actor) -> QuerySet[Hold]:
    """What is set aside of the wallet now, the greatest first."""
    actor.require(Permission.BILLING_VIEW)
    rows: QuerySet[Hold] = Hold.objects.filter(end__isnull=True, amount_fen__gt=0)
    return rows.order_by("-amount_fen", "pk")
