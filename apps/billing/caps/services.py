"""Spending caps: set with a workload, changed later, and found when they are about to be reached.

A cap is measured on what is charged and what is used and not yet charged: after the discount, without what prepaid
orders cover, and whether the wallet or vouchers pay. The work is asked to save and stop `policy.CAP_AHEAD` before the
cap would be reached, and is stopped when it is, saved or not; so it costs at most the cap plus one rating interval.
Only while the platform's own loops are down does nobody ask.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.caps.selectors import Outlook, outlook, own_rate, spent_fen
from apps.billing.metering.selectors import sessions_of
from apps.billing.models import PriceVersion, SpendingCap
from apps.billing.prices.own import own_prices
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.money import yuan

# Caps of workloads that do not run are looked at again after this.
LOOK_AGAIN = timedelta(seconds=30)
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class CappedWorkload:
    """What a cap belongs to: a workload, or a set of replicas by its id.

    `price_version_id` is the price of one of its `replicas`.
    """

    workload_id: UUID
    organisation_id: UUID
    price_version_id: int
    label: str
    replicas: int = 1


@dataclass(frozen=True, slots=True)
class NearCap:
    """A cap that is about to be reached, at `at` by what is charged now."""

    workload_id: UUID
    limit_fen: int
    at: datetime


def set_cap(actor: Actor, capped: CappedWorkload, limit_fen: int | None) -> None:
    """Set the most that the workload may cost; None removes the cap. The caller has checked that the actor may.

    Raises `Invalid` for less than it has cost so far plus a few minutes. A cap that was reached opens again.
    """
    before = SpendingCap.objects.filter(pk=capped.workload_id).values_list("limit_fen", flat=True).first()
    if limit_fen == before:
        return
    if limit_fen is not None:
        _check(capped, limit_fen, is_new=before is None)
    with transaction.atomic():
        if limit_fen is None:
            SpendingCap.objects.filter(pk=capped.workload_id).delete()
        else:
            _write(capped, limit_fen)
        record(
            actor,
            action="billing.cap",
            target=Target("workload", str(capped.workload_id), capped.label),
            organisation_id=capped.organisation_id,
            before={"limit_fen": before},
            after={"limit_fen": limit_fen},
        )


def least_fen(rate_fen_per_hour: Decimal) -> int:
    """The smallest cap at this price."""
    fen = rate_fen_per_hour * Decimal(policy.CAP_LEAST.total_seconds()) / 3600
    return max(1, int(fen.to_integral_value(rounding=ROUND_CEILING)))


def _check(capped: CappedWorkload, limit_fen: int, *, is_new: bool) -> None:
    if limit_fen > policy.TOP_UP_MAX_FEN:
        raise Invalid.field("cap", _("At most %(limit)s.") % {"limit": yuan(policy.TOP_UP_MAX_FEN)})
    spent = Decimal(0) if is_new else spent_fen(capped.workload_id)
    least = int(spent.to_integral_value(rounding=ROUND_CEILING)) + least_fen(_rate(capped))
    if limit_fen < least:
        minutes = int(policy.CAP_LEAST.total_seconds() // 60)
        text = _("At least %(least)s: what it has cost and the next %(minutes)s minutes.")
        raise Invalid.field("cap", text % {"least": yuan(least), "minutes": minutes})


def _rate(capped: CappedWorkload) -> Decimal:
    """Fen per hour of all replicas, at the discount of what runs, or that a start would get now."""
    running = sessions_of(capped.workload_id).filter(closed_at__isnull=True).order_by("-opened_at").first()
    if running is not None:
        return own_rate(running) * capped.replicas
    listed = PriceVersion.objects.values_list("rate_fen_per_hour", flat=True).get(pk=capped.price_version_id)
    return own_prices(capped.organisation_id, db_now()).rate(listed) * capped.replicas


def _write(capped: CappedWorkload, limit_fen: int) -> None:
    SpendingCap.objects.update_or_create(
        workload_id=capped.workload_id,
        defaults={
            "organisation_id": capped.organisation_id,
            "limit_fen": limit_fen,
            "reached_at": None,
            "look_at": Now(),
        },
    )


def near_caps(*, now: datetime) -> list[NearCap]:
    """Caps that will be reached within `policy.CAP_AHEAD`; records for the others when to look again."""
    due = SpendingCap.objects.filter(closed_at__isnull=True, reached_at__isnull=True, look_at__lte=now)
    looked = [(cap, outlook(cap, spent_fen(cap.workload_id))) for cap in due.order_by("look_at")[:AT_ONCE]]
    near = []
    for cap, seen in looked:
        if seen is not None and seen.at is not None and seen.at - policy.CAP_AHEAD <= now:
            near.append(NearCap(cap.workload_id, cap.limit_fen, seen.at))
        else:
            again = _next_look(seen, now)
            SpendingCap.objects.filter(pk=cap.pk, limit_fen=cap.limit_fen).update(look_at=again)
    return near


def _next_look(seen: Outlook | None, now: datetime) -> datetime:
    """Never later than it can be near, even if the prepaid order that covers it is given back meanwhile.

    A set may have more replicas a minute later, so its cap is looked at again and again.
    """
    soonest = seen.soonest - policy.CAP_AHEAD if seen else now
    soon = now + LOOK_AGAIN
    return soon if seen is None or seen.may_grow or soonest <= now else soonest


def mark_reached(near: NearCap, *, at: datetime) -> bool:
    """Record that the work was asked to save and stop; False if somebody else did or the cap changed meanwhile."""
    rows = SpendingCap.objects.filter(pk=near.workload_id, limit_fen=near.limit_fen)
    return bool(rows.filter(reached_at__isnull=True, closed_at__isnull=True).update(reached_at=at))


def close_cap(workload_id: UUID, *, at: datetime) -> None:
    """Close the cap of a workload that ended by itself, so that nobody looks at it again."""
    SpendingCap.objects.filter(pk=workload_id, closed_at__isnull=True).update(closed_at=at)
