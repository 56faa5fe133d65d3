"""`{% load envs %}`: words for values that a query brings without their model, and when an environment stops."""

from typing import Any
from zoneinfo import ZoneInfo

from django import template
from django.utils import timezone

from apps.common.clock import db_now
from apps.common.formatting import clock
from apps.envs.choices import SnapshotKind
from apps.envs.models import Environment

register = template.Library()


@register.filter
def snapshot_kind(value: str | None) -> str:
    return str(SnapshotKind(value).label) if value else ""


@register.inclusion_tag("envs/parts/shutdown_tag.html")
def shutdown_tag(environment: Environment) -> dict[str, Any]:
    """When it is saved and stopped, with the time that is left."""
    at = environment.shutdown_at
    left_s = max(0.0, (at - db_now()).total_seconds()) if at is not None else 0.0
    daily = environment.shutdown_time is not None
    return {"at": at, "daily": daily, "there": _there(environment), "left_s": round(left_s), "left": clock(left_s)}


def _there(environment: Environment) -> str:
    """The time of day on the clock of the person who set it, where that is another than the platform's."""
    at, name = environment.shutdown_at, environment.shutdown_zone
    there = at.astimezone(ZoneInfo(name)) if at is not None and name else None
    if there is None or there.utcoffset() == timezone.localtime(at).utcoffset():
        return ""
    return f"{there:%H:%M} {name}"
