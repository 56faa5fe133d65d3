"""How many runs of a package there is room for now: found by asking the scheduler, so that it holds for every mode."""

import scheduler
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.isolation import usable_nodes
from apps.workloads.reconcile import snapshot
from apps.workloads.reconcile.tasks_of import make_task
from apps.workloads.spec import Spec

# Counting stops here: beyond it a person only wants to know that there is plenty.
MOST = 9


def room(actor: Actor, specs: list[Spec]) -> list[int]:
    """For each spec, how many copies would start now were the queue empty; `MOST` means "or more"."""
    organisation = actor.organisation()
    with acting(system_actor()):
        now = db_now()
        views = {world: snapshot.take(now, simulated=world) for world in {spec.simulated for spec in specs}}
        usable = {str(pk) for pk in usable_nodes(organisation)}
    nodes = {world: tuple(node for node in view.nodes if node.id in usable) for world, view in views.items()}
    return [
        _copies(actor, spec, nodes[spec.simulated], views[spec.simulated].running, now.timestamp()) for spec in specs
    ]


def _copies(
    actor: Actor, spec: Spec, nodes: tuple[scheduler.Node, ...], running: tuple[scheduler.Running, ...], now: float
) -> int:
    tasks = tuple(
        make_task(
            spec,
            id=f"copy-{number}",
            organisation=str(actor.organisation()),
            department=str(actor.department_id or ""),
            user=str(actor.user_id),
            priority=3,
            submitted_at=now + number,
        )
        for number in range(MOST)
    )
    plan = scheduler.plan(scheduler.Snapshot(nodes=nodes, running=running, waiting=tasks), now)
    return len({place.task_id for place in plan.places})
