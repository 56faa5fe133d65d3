"""What is free now: of the machines as a whole, and in copies of each package."""

from dataclasses import dataclass

import scheduler
from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants.selectors import Limit, own_limits
from apps.training.capacity import MOST, room
from apps.training.quoting import resources_of
from apps.workloads.isolation import usable_nodes
from apps.workloads.reconcile import snapshot
from apps.workloads.resources import quota_amounts
from apps.workloads.spec import Spec


@dataclass(frozen=True, slots=True)
class Free:
    """Unclaimed CPU (milli-cores), memory (MiB) and untouched cards of the machines that the actor may use."""

    nodes: int
    cpu_milli: int
    cpu_total_milli: int
    memory_mib: int
    cards: int
    cards_total: int
    cards_by_model: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Offered:
    """A package and how many of it could start now (at most MOST); `by_quota` when quota, not room, is the limit."""

    package: Package
    count: int
    by_quota: bool

    @property
    def plenty(self) -> bool:
        return self.count >= MOST


def usable(actor: Actor) -> scheduler.Snapshot:
    """The machines that may take the actor's work and what runs on them; the queue is left out."""
    organisation = actor.organisation()
    with acting(system_actor()):
        view = snapshot.take(db_now())
        allowed = {str(pk) for pk in usable_nodes(organisation)}
    open_nodes = tuple(n for n in view.nodes if n.id in allowed and n.schedulable and n.healthy)
    ids = {node.id for node in open_nodes}
    return scheduler.Snapshot(nodes=open_nodes, running=tuple(r for r in view.running if r.node_id in ids))


def free(view: scheduler.Snapshot) -> Free:
    taken = {piece.device_id for running in view.running for piece in running.slices}
    cards = [card for node in view.nodes for card in node.devices if card.healthy]
    idle = [card.model for card in cards if card.id not in taken]
    cpu, memory = sum(n.cpu_milli for n in view.nodes), sum(n.memory_mib for n in view.nodes)
    return Free(
        nodes=len(view.nodes),
        cpu_milli=cpu - sum(r.task.cpu_milli for r in view.running),
        cpu_total_milli=cpu,
        memory_mib=memory - sum(r.task.memory_mib for r in view.running),
        cards=len(idle),
        cards_total=len(cards),
        cards_by_model=tuple(sorted({(model, idle.count(model)) for model in idle}, key=lambda pair: -pair[1])),
    )


def offered(actor: Actor) -> list[Offered]:
    """Every package on offer that has a price, in the catalogue's order."""
    actor.require(Permission.BILLING_VIEW_OWN)
    packages = [package for package in funds.packages(actor) if package.price is not None]
    specs = [resources_of(package) for package in packages]
    limits = own_limits(actor)
    return [
        Offered(package, min(copies, _within(limits, spec)), by_quota=_within(limits, spec) < copies)
        for package, spec, copies in zip(packages, specs, room(actor, specs), strict=True)
    ]


def _within(limits: list[Limit], spec: Spec) -> int:
    """How many copies the tightest quotas leave."""
    amounts = quota_amounts(spec)
    rooms = [
        max(0, each.limit - each.used) // amounts[each.resource]
        for each in limits
        if each.limit is not None and amounts[each.resource]
    ]
    return min(rooms, default=MOST)
