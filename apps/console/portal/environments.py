"""The overview's environments: those that live first, then the newest of the others."""

from dataclasses import dataclass

from django.db.models import Case, IntegerField, QuerySet, Value, When

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.prepared import prepared
from apps.envs import selectors, showing
from apps.envs.models import Environment
from apps.workloads.choices import LIVE

SHOWN, SHOWN_OF_ALL = 5, 12


@dataclass(frozen=True, slots=True)
class Row:
    environment: Environment
    shown: showing.Shown
    opens: list[dict[str, str]]


def rows(actor: Actor, *, everyones: bool = False) -> list[Row]:
    """The actor's own, with `everyones` all that they may see and that live; none for a role that has none."""
    if not actor.may(Permission.ENVIRONMENTS_VIEW):
        return []
    now = db_now()
    found = [(each, showing.show(each, now)) for each in _first(actor, everyones)]
    return [Row(each, shown, _opens(actor, each, shown)) for each, shown in found]


@prepared
def _first(actor: Actor, everyones: bool, /) -> QuerySet[Environment]:
    live = Case(When(workload__status__in=LIVE, then=Value(0)), default=Value(1), output_field=IntegerField())
    kept = selectors.in_list(actor).filter(deleted_at__isnull=True)
    chosen = kept.filter(workload__status__in=LIVE) if everyones else kept.filter(owner_id=actor.user_id)
    return chosen.order_by(live, "-created_at")[: SHOWN_OF_ALL if everyones else SHOWN]


def _opens(actor: Actor, environment: Environment, shown: showing.Shown) -> list[dict[str, str]]:
    """Nobody opens a colleague's."""
    return showing.open_buttons(environment, shown) if environment.owner_id == actor.user_id else []
