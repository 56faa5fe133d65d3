"""`{% load times %}`: how long work runs at most, when that is over, and what is told before."""

from datetime import datetime
from typing import Any

from django import template
from django.template import RequestContext

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.formatting import clock
from apps.workloads.choices import Kind, Status
from apps.workloads.idle_rule import is_warning_due, release_at
from apps.workloads.longest import told_from
from apps.workloads.models import Attempt, Workload
from apps.workloads.time_limits import limit_of

register = template.Library()


@register.inclusion_tag("workloads/time_tags.html")
def time_tags(workload: Workload | None) -> dict[str, Any]:
    """Beside the name: the times that its owner set."""
    if workload is None:
        return {"workload": None}
    ends_at = workload.deadline_at if workload.status == Status.RUNNING else None
    return {"workload": workload, "ends_at": ends_at, **_left(ends_at)}


@register.simple_tag(takes_context=True)
def longest_allowed(context: RequestContext, kind: str) -> int | None:
    """Seconds that one start of this kind may run in the actor's organisation; None: however long."""
    actor: Actor | None = context.get("actor")
    if actor is None or actor.organisation_id is None:
        return None
    return limit_of(actor.organisation_id, Kind(kind)).longest_s


@register.inclusion_tag("workloads/time_notice.html")
def time_notice(workload: Workload | None, attempt: Attempt | None) -> dict[str, Any]:
    """The banner before its time is over, or before its cards have stood idle for too long."""
    if workload is None or workload.status != Status.RUNNING:
        return {"over_at": None, "idle_at": None}
    now = db_now()
    end, longest_s = workload.deadline_at, workload.longest_s
    over_at = end if end is not None and longest_s is not None and told_from(end, longest_s) <= now else None
    idle_at = None if over_at else _idle_at(workload, attempt, now)
    return {"workload": workload, "over_at": over_at, "idle_at": idle_at, **_left(over_at or idle_at)}


def _idle_at(workload: Workload, attempt: Attempt | None, now: datetime) -> datetime | None:
    used_at, minutes = attempt.gpu_used_at if attempt is not None else None, workload.gpu_idle_minutes
    if used_at is None or not is_warning_due(now, used_at, minutes):
        return None
    return release_at(used_at, minutes)


def _left(end: datetime | None) -> dict[str, Any]:
    left_s = 0.0 if end is None else max(0.0, (end - db_now()).total_seconds())
    return {"left_s": round(left_s), "left": clock(left_s)}
