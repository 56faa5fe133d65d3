"""Make schedules, change, pause, resume and delete them, and start one by hand."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.days import BILLING_ZONE
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.schedules import states
from apps.schedules.choices import (
    LONGEST_NAME,
    MOST_SCHEDULES,
    Cause,
    Overlap,
    PauseReason,
    ScheduleStatus,
    StartStatus,
    Why,
)
from apps.schedules.cron.expression import Cron, read_cron
from apps.schedules.cron.moments import next_moment, require_moments
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.targets import RUN, target_of
from apps.training.choices import KIND
from apps.workloads.launching.request import clean_launch_name
from apps.workloads.permissions import may_manage


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When something starts, and what happens where the last one still runs. `until_at` itself is the last moment."""

    name: str
    cron: str
    from_at: datetime | None = None
    until_at: datetime | None = None
    overlap: Overlap = Overlap.SKIP


def create(actor: Actor, target_id: UUID, plan: Plan, *, target: str = RUN) -> Schedule:
    """Active from now on. `target_id`: of a run, or of what else `target` names.

    Raises `Invalid` beside its field, `NotFound` for what the actor does not see.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    target_of(target).find(actor, target_id)
    started = {"run_id" if target == RUN else "target_id": target_id}
    columns, next_at = _columns(plan)
    with transaction.atomic():
        _refuse_too_many(actor)
        schedule: Schedule = Schedule.objects.create(
            organisation_id=actor.organisation(),
            owner_id=actor.person(),
            target=target,
            next_at=next_at,
            **started,
            **columns,
        )
        _record(actor, schedule, "schedule.created", {target: str(target_id), **_told(columns)})
    return schedule


def _refuse_too_many(actor: Actor) -> None:
    own = Schedule.objects.filter(owner_id=actor.person()).exclude(status=ScheduleStatus.ENDED)
    if own.count() >= MOST_SCHEDULES:
        raise Conflict(
            _("You have %(most)s schedules, the most that one person may have.") % {"most": MOST_SCHEDULES},
            hint=_("Delete those that you do not need."),
        )


def change(actor: Actor, schedule: Schedule, plan: Plan) -> Schedule:
    """A paused one stays paused; one that was over is active again if moments come. What waits goes on waiting."""
    may_manage(actor, KIND, schedule.owner_id)
    columns, next_at = _columns(plan)
    with transaction.atomic():
        row = _locked(schedule)
        before = {name: getattr(row, name) for name in columns}
        moves = {"next_at": next_at} if row.status == ScheduleStatus.ACTIVE else {}
        Schedule.objects.filter(pk=row.pk).update(**columns, **moves)
        if row.status == ScheduleStatus.ENDED:
            states.activate(row, next_at)
        _record(actor, schedule, "schedule.changed", _told(columns), _told(before))
    schedule.refresh_from_db()
    return schedule


def _columns(plan: Plan) -> tuple[dict[str, Any], datetime]:
    """As they are kept, and the first moment from now on."""
    name = clean_launch_name(plan.name, longest=LONGEST_NAME, missing=_("Give the schedule a name."))
    cron, now = read_cron(plan.cron), db_now()
    require_moments(cron, now, BILLING_ZONE)
    if plan.from_at and plan.until_at and plan.until_at < plan.from_at:
        raise Invalid.field("until_at", _("The end is before the beginning."))
    next_at = next_of(cron, max(now, plan.from_at or now), plan.until_at)
    if next_at is None:
        raise Invalid.field("until_at", _("No moment comes before this end."))
    return {**asdict(plan), "name": name, "cron": cron.text}, next_at


def next_of(cron: Cron, after: datetime, until: datetime | None) -> datetime | None:
    """The next moment within the schedule's time."""
    found = next_moment(cron, after, BILLING_ZONE)
    return None if found is None or (until is not None and found > until) else found


def pause(actor: Actor, schedule: Schedule) -> None:
    """Nothing starts until it is resumed, what waits neither; what runs goes on. `Conflict` if it is not active."""
    may_manage(actor, KIND, schedule.owner_id)
    with transaction.atomic():
        row = _locked(schedule)
        if not states.pause(row, PauseReason.BY_PERSON):
            raise Conflict(_("It is not active."))
        skip_waiting(row)
        _record(actor, schedule, "schedule.paused", {})
    schedule.refresh_from_db()


def skip_waiting(schedule: Schedule) -> None:
    """Of a schedule that pauses. Call with its row locked."""
    for start in ScheduledStart.objects.filter(schedule=schedule, status=StartStatus.WAITING):
        states.skipped(start, Why.PAUSED)


def resume(actor: Actor, schedule: Schedule) -> None:
    """From the next moment on; what passed meanwhile is not made up for. Raises `Conflict` if it is not paused."""
    may_manage(actor, KIND, schedule.owner_id)
    with transaction.atomic():
        row, now = _locked(schedule), db_now()
        if row.status != ScheduleStatus.PAUSED:
            raise Conflict(_("It is not paused."))
        next_at = next_of(read_cron(row.cron), max(now, row.from_at or now), row.until_at)
        if next_at is None:
            raise Conflict(_("No moment comes any more."), hint=_("Change when it ends first."))
        states.activate(row, next_at)
        _record(actor, schedule, "schedule.resumed", {})
    schedule.refresh_from_db()


def run_now(actor: Actor, schedule: Schedule, key: str) -> ScheduledStart:
    """A start by hand, also of one that is paused; the loop carries it out as the owner. The same key makes one."""
    may_manage(actor, KIND, schedule.owner_id)
    with transaction.atomic():
        row = _locked(schedule)
        start, made = ScheduledStart.objects.get_or_create(
            schedule=row,
            key=f"hand:{key}"[:100],
            defaults={"organisation_id": row.organisation_id, "cause": Cause.HAND, "moment": db_now()},
        )
        if made:
            _record(actor, schedule, "schedule.run_now", {})
    return start


def delete(actor: Actor, schedule: Schedule) -> None:
    """With its history; the runs that it has started stay."""
    may_manage(actor, KIND, schedule.owner_id)
    with transaction.atomic():
        row = _locked(schedule)
        _record(actor, row, "schedule.deleted", {})
        row.delete()


def _locked(schedule: Schedule) -> Schedule:
    """Its row until the transaction ends; the loop waits meanwhile."""
    row: Schedule = Schedule.objects.select_for_update().filter(Q(pk=schedule.pk)).get()
    return row


def _told(columns: dict[str, Any]) -> dict[str, Any]:
    """For the audit log, which keeps JSON."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in columns.items()}


def _record(
    actor: Actor, schedule: Schedule, action: str, after: dict[str, Any], before: dict[str, Any] | None = None
) -> None:
    record(
        actor,
        action=action,
        target=Target("schedule", str(schedule.pk), schedule.name),
        organisation_id=schedule.organisation_id,
        before=before or {},
        after=after,
    )
