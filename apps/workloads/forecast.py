"""What would happen to a run if it were submitted now: for the quote and the package picker. Writes nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import scheduler
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.isolation import usable_nodes
from apps.workloads.reconcile import snapshot
from apps.workloads.reconcile.explaining import explanation_of, has_history
from apps.workloads.reconcile.tasks_of import make_task
from apps.workloads.spec import Spec

ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Forecast:
    """`starts_now`, or the explanation of why not, with the estimated start where there is one."""

    starts_now: bool
    explanation: dict[str, Any]
    start_p50: datetime | None = None
    start_p90: datetime | None = None


def forecast(actor: Actor, spec: Spec, *, priority: int = 3) -> Forecast:
    """One dry pass over the cluster as it is, with this task at the end of the queue."""
    return forecasts(actor, [spec], priority=priority)[0]


def forecasts(actor: Actor, specs: list[Spec], *, priority: int = 3) -> list[Forecast]:
    """The same for several specs against one snapshot, each as if it were submitted alone."""
    organisation = actor.organisation()
    with acting(system_actor()):
        now = db_now()
        views = {world: snapshot.take(now, simulated=world) for world in {spec.simulated for spec in specs}}
        usable = {str(pk) for pk in usable_nodes(organisation)}
    nodes = {world: tuple(node for node in view.nodes if node.id in usable) for world, view in views.items()}
    return [_one(actor, spec, views[spec.simulated], nodes[spec.simulated], now, priority) for spec in specs]


def _one(
    actor: Actor, spec: Spec, view: scheduler.Snapshot, nodes: tuple[scheduler.Node, ...], now: datetime, priority: int
) -> Forecast:
    task = make_task(
        spec,
        id=ASKED,
        organisation=str(actor.organisation()),
        department=str(actor.department_id or ""),
        user=str(actor.user_id),
        priority=priority,
        submitted_at=now.timestamp(),
    )
    asked = scheduler.Snapshot(nodes=nodes, running=view.running, waiting=(*view.waiting, task), queues=view.queues)
    wait = scheduler.plan(asked, now.timestamp()).wait_for(ASKED)
    if wait is None:
        return Forecast(starts_now=True, explanation={})
    explanation = explanation_of(wait, str(actor.organisation()), known=has_history(view))
    return Forecast(False, explanation, _time(explanation["start_p50"]), _time(explanation["start_p90"]))


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
