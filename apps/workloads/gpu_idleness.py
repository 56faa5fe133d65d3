"""Work whose cards stand idle for as long as its owner allows is told, saved and stopped.

`gpu_used_at` of what the driver sees (`reconcile.observed`) is the last moment of use. A card that nobody can see
counts as used; so does the time in which the platform did not look, and the moment in which the rule was changed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from apps.audit.services import record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.workloads import announce, idle_rule, saving
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Observation, Phase
from apps.workloads.longest import saving_time
from apps.workloads.models import Attempt, Member, Observed, Workload
from apps.workloads.permissions import may_change
from apps.workloads.run_times import RunTimes

EVENT = "gpu_idle"
"""The kind of its events. Data: `minutes` (None: no rule any more) and `before`."""

# A training that waits for its data uses its cards little, but not as little as this.
IN_USE_FROM_PCT = 1.0
# Without a look for so long nobody knows what the cards did.
BLIND = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class CardUse:
    """Of all programs of an attempt: the last use of any, and until when every one was seen."""

    used_at: datetime
    seen_at: datetime


def use_columns(program: Observed, seen: Observation, now: datetime) -> dict[str, Any]:
    """`gpu_used_at` as an observation changes it; nothing for cards that were seen to stand idle."""
    pct = seen.usage.gpu_util_pct if seen.usage is not None and seen.phase is Phase.RUNNING else None
    looked_away = program.seen_at is None or program.gpu_used_at is None or now - program.seen_at > BLIND
    stands_idle = idle_rule.gpu_in_use(pct, from_pct=IN_USE_FROM_PCT) is False
    return {} if stands_idle and not looked_away else {"gpu_used_at": now}


def set_gpu_idle(actor: Actor, workload: Workload, minutes: int | None) -> None:
    """Change the rule of what lives; None: never stopped for that. A stop under the former rule is called off.

    Idleness is counted anew, so that nothing is stopped for the time before somebody looked after it. Raises
    `Conflict` once it is ending, `Invalid` for work without a card.
    """
    may_change(actor, workload)
    RunTimes(gpu_idle_minutes=minutes).check()
    if minutes is not None and workload.frozen_spec.gpu is None:
        raise Invalid.field("gpu_idle", _("It has no GPU that could stand idle."))
    with transaction.atomic():
        row: Workload = Workload.objects.select_for_update(of=("self",), no_key=True).get(pk=workload.pk)
        if not row.is_live or row.status == Status.STOPPING:
            raise Conflict(_("This has ended already, or is about to."))
        Workload.objects.filter(pk=row.pk).update(gpu_idle_minutes=minutes)
        _count_anew(row)
        saving.call_off(actor, row, Reason.GPU_IDLE)
        if row.gpu_idle_minutes != minutes:
            _tell(actor, row, row.gpu_idle_minutes, minutes)
    workload.refresh_from_db()


def _count_anew(workload: Workload) -> None:
    """Of cards that have been seen; the others count as used already."""
    now, live = db_now(), Attempt.objects.filter(workload=workload, ended_at__isnull=True)
    live.filter(gpu_used_at__isnull=False).update(gpu_used_at=now)
    Member.objects.filter(attempt__in=live, gpu_used_at__isnull=False).update(gpu_used_at=now)


def _tell(actor: Actor, workload: Workload, before: int | None, after: int | None) -> None:
    announce.event(actor, workload, EVENT, {"minutes": after, "before": before, "by": actor.label})
    record(
        actor,
        action="workload.gpu_idle",
        target=announce.target(workload),
        organisation_id=workload.organisation_id,
        before={"gpu_idle_minutes": before},
        after={"gpu_idle_minutes": after},
    )


def enforce_gpu_idleness(actor: Actor) -> int:
    """Tell owners before, and have saved and stopped what is due; how many of these."""
    now = db_now()
    rows = Workload.objects.filter(status=Status.RUNNING, gpu_idle_minutes__isnull=False)
    watched = list(rows.filter(stop_reason__in=("", Reason.GPU_IDLE)))
    uses = _card_uses([workload.pk for workload in watched])
    return sum(_act(actor, workload, uses[workload.pk], now) for workload in watched if workload.pk in uses)


def _card_uses(ids: Sequence[UUID]) -> dict[UUID, CardUse]:
    """By workload, where every program has been seen."""
    if not ids:
        return {}
    live = Attempt.objects.filter(workload__in=ids, ended_at__isnull=True)
    found: defaultdict[UUID, list[Observed]] = defaultdict(list)
    of_gangs = Member.objects.filter(attempt__in=live).select_related("attempt")
    for member in of_gangs:
        found[member.attempt.workload_id].append(member)
    for attempt in live:
        if attempt.workload_id not in found:
            found[attempt.workload_id].append(attempt)
    uses: dict[UUID, CardUse] = {}
    for workload_id, programs in found.items():
        used = [each.gpu_used_at for each in programs if each.gpu_used_at is not None]
        seen = [each.seen_at for each in programs if each.seen_at is not None]
        if len(used) == len(seen) == len(programs):
            uses[workload_id] = CardUse(max(used), min(seen))
    return uses


def _act(actor: Actor, workload: Workload, use: CardUse, now: datetime) -> bool:
    minutes = workload.gpu_idle_minutes
    due = idle_rule.is_due(now, use.used_at, minutes)
    if workload.stop_reason:
        if not due:  # used again while it was being saved
            saving.call_off(actor, workload, Reason.GPU_IDLE)
        return False
    if now - use.seen_at > BLIND or minutes is None:
        return False
    if due:
        used_since = Attempt.objects.filter(
            workload=OuterRef("pk"), ended_at__isnull=True, gpu_used_at__gt=now - timedelta(minutes=minutes)
        )
        still = Q(~Exists(used_since), gpu_idle_minutes=minutes, status=Status.RUNNING)
        return saving.ask(actor, workload, Reason.GPU_IDLE, by=now + saving_time(), only=still)
    if idle_rule.is_warning_due(now, use.used_at, minutes):
        data = {"at": (use.used_at + timedelta(minutes=minutes)).isoformat(), "minutes": minutes}
        announce.tell_owner(workload, "gpu_idle_soon", data, f"{workload.pk}:{use.used_at.isoformat()}")
    return False
