"""The overview's environments: those that live first, then the newest of the others."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, IntegerField, Value, When

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.envs import selectors, showing
from apps.envs.models import Environment
from apps.workloads.choices import LIVE

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Row:
    environment: Environment
    shown: showing.Shown
    opens: list[dict[str, str]]


def rows(actor: Actor) -> list[Row]:
    """The actor's own; none for a role that has no environments."""
    if not actor.may(Permission.ENVIRONMENTS_VIEW):
        return []
    live = Case(When(workload__status__in=LIVE, then=Value(0)), default=Value(1), output_field=IntegerField())
    mine = selectors.in_list(actor).filter(owner_id=actor.user_id, deleted_at__isnull=True)
    now = db_now()
    found = [(each, showing.show(each, now)) for each in mine.order_by(live, "-created_at")[:SHOWN]]
    return [Row(each, shown, showing.opens(each, shown)) for each, shown in found]


def live(actor: Actor) -> dict[str, int]:
    """How many of the actor's own live, by the status of their newest start."""
    if not actor.may(Permission.ENVIRONMENTS_VIEW):
        return {}
    mine = selectors.environments(actor).filter(owner_id=actor.user_id, workload__status__in=LIVE).order_by()
    grouped: Any = mine.values_list("workload__status").annotate(count=Count("pk"))
    return dict(grouped)
