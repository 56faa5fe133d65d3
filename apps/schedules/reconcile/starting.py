"""Carry out the starts that wait: as the owner, with the rights, quota and balance of now, and say how each went.

A start is decided in the transaction that starts it, under the schedule's lock: there is never a run without its
row of the history, nor a row that says it started without a run.
"""

from uuid import UUID

from django.db import transaction
from django.utils import translation

from apps.common.actor import Actor
from apps.common.errors import Denied, DomainError
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.composing import language_of
from apps.notifications.services import notify_user
from apps.schedules import selectors, services, states
from apps.schedules.choices import MOST_REFUSALS, Cause, Overlap, PauseReason, StartStatus, Why
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.refusals import why_of
from apps.schedules.targets import target_of
from apps.tenants.actors import organisation_actor


def start_waiting() -> int:
    """How many starts were decided. Call in the platform's scope."""
    waiting = ScheduledStart.objects.filter(status=StartStatus.WAITING).order_by("moment", "created_at")
    return sum(_decide(start_id, schedule_id) for start_id, schedule_id in waiting.values_list("pk", "schedule_id"))


def _decide(start_id: UUID, schedule_id: UUID) -> bool:
    """Whether it is decided; not while it has to wait, or while another loop is at this schedule."""
    with transaction.atomic():
        locked = Schedule.objects.select_for_update(skip_locked=True, of=("self",)).select_related("owner")
        schedule = locked.filter(pk=schedule_id).first()
        start = ScheduledStart.objects.filter(pk=start_id, status=StartStatus.WAITING).first()
        if schedule is None or start is None:
            return False
        if _is_superseded(start):
            return states.skipped(start, Why.SUPERSEDED)
        live = selectors.living(schedule)
        if live and schedule.overlap == Overlap.SKIP and start.cause != Cause.HAND:
            return states.skipped(start, Why.STILL_RUNNING)
        with translation.override(language_of(schedule.owner)):
            return _wait_or_start(schedule, start, live)


def _is_superseded(start: ScheduledStart) -> bool:
    """One start of a schedule waits at a time: the one that came first."""
    rows = ScheduledStart.objects.filter(schedule=start.schedule_id, status=StartStatus.WAITING)
    first = rows.order_by("moment", "created_at", "pk").first()
    return first is not None and first.pk != start.pk


def _wait_or_start(schedule: Schedule, start: ScheduledStart, live: list[UUID]) -> bool:
    try:
        owner = _owner(schedule)
        if live and start.cause != Cause.HAND:
            if schedule.overlap == Overlap.REPLACE:
                _stop(owner, schedule, live)
            return False
        with transaction.atomic():
            started_id = _submit(owner, schedule, start)
    except DomainError as error:
        return _refused(schedule, start, error)
    Schedule.objects.filter(pk=schedule.pk).exclude(refusals=0).update(refusals=0)
    return states.started(start, schedule.target, started_id)


def _owner(schedule: Schedule) -> Actor:
    """With the rights of now."""
    if not schedule.owner.is_active:
        raise Denied(Permission.TRAINING_SUBMIT)
    actor = organisation_actor(schedule.owner, schedule.organisation_id)
    actor.require(Permission.TRAINING_SUBMIT)
    return actor


def _submit(owner: Actor, schedule: Schedule, start: ScheduledStart) -> UUID:
    """The id of what it has started."""
    with acting(owner):
        return target_of(schedule.target).start(owner, schedule.object_id, start.pk.hex)


def _stop(owner: Actor, schedule: Schedule, live: list[UUID]) -> None:
    with acting(owner):
        for started_id in live:
            target_of(schedule.target).stop(owner, started_id)


def _refused(schedule: Schedule, start: ScheduledStart, error: DomainError) -> bool:
    """Told in the history; after several in a row the schedule pauses and its owner is told."""
    decided = states.skipped(start, why_of(error), str(error.sentences))
    refusals = schedule.refusals + 1
    Schedule.objects.filter(pk=schedule.pk).update(refusals=refusals)
    if refusals >= MOST_REFUSALS and states.pause(schedule, PauseReason.REFUSALS):
        services.skip_waiting(schedule)
        _tell(schedule, start, error, refusals)
    return decided


def _tell(schedule: Schedule, start: ScheduledStart, error: DomainError, refusals: int) -> None:
    notify_user(
        organisation_id=schedule.organisation_id,
        user_id=schedule.owner_id,
        kind="schedule.paused",
        data={
            "schedule_id": str(schedule.pk),
            "name": schedule.name,
            "count": refusals,
            "why": str(error.sentences),
        },
        dedup=f"schedule.paused:{start.pk}",
    )
