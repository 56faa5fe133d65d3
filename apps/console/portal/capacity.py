"""What is free now: of the machines as a whole, and in copies of each package."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.prices.own import own_terms
from apps.clusters.choices import CLOSED
from apps.clusters.models import Accelerator, Node
from apps.clusters.rights import usable_by
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.prepared import prepared
from apps.common.scoping import acting
from apps.tenants.quotas import lines_of
from apps.tenants.selectors import Limit, own_limits
from apps.training.choices import KIND as TRAINING
from apps.workloads.isolation import usable_nodes
from apps.workloads.models import Placement
from apps.workloads.offers.capacity import MOST, room
from apps.workloads.offers.quoting import resources_of
from apps.workloads.placing import is_simulated, read_zones
from apps.workloads.reconcile.snapshot import SILENCE
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
    """A package and how many of it could start now (at most MOST); `by_quota` when quota, not room, is the limit.

    `rate_fen_per_hour`: what the organisation pays.
    """

    package: Package
    rate_fen_per_hour: Decimal
    count: int
    by_quota: bool

    @property
    def plenty(self) -> bool:
        return self.count >= MOST

    @property
    def simulated(self) -> bool:
        return is_simulated(self.package)


def free(actor: Actor) -> Free:
    """Sums over the machines that take work now and may take the actor's; the rows of runs are not read.

    Simulated machines are not counted: nothing on them is there to be had.
    """
    organisation = actor.organisation()
    with acting(system_actor()):
        nodes = _taking_work(organisation)
        held = Placement.objects.filter(node__in=nodes, released_at__isnull=True)
        cards = Accelerator.objects.filter(node__in=nodes, healthy=True)
        idle = ~Q(pk__in=held.filter(accelerator__isnull=False).values("accelerator_id"))
        by_model = cards.order_by().values_list("model").annotate(all=Count("pk"), idle=Count("pk", filter=idle))
        counted = list(by_model.order_by("-idle", "model"))
        taken = held.aggregate(cpu=Sum("cpu_milli"), memory=Sum("memory_mib"))
        models = tuple((model, count) for model, _all, count in counted if count)
        return Free(
            nodes=len(nodes),
            cpu_milli=sum(n.allocatable_cpu_milli for n in nodes) - (taken["cpu"] or 0),
            cpu_total_milli=sum(n.allocatable_cpu_milli for n in nodes),
            memory_mib=sum(n.allocatable_memory_mib for n in nodes) - (taken["memory"] or 0),
            cards=sum(count for _model, count in models),
            cards_total=sum(count for _model, count, _idle in counted),
            cards_by_model=models,
        )


def _taking_work(organisation_id: UUID) -> list[Node]:
    nodes, since = tuple(usable_nodes(organisation_id)), db_now() - SILENCE
    return _answering(system_actor(), organisation_id=organisation_id, node_ids=nodes, since=since)


@prepared
def _answering(
    actor: Actor, /, *, organisation_id: UUID, node_ids: tuple[UUID, ...], since: datetime
) -> QuerySet[Node]:
    rows = Node.objects.filter(pk__in=node_ids, cluster__in=usable_by(organisation_id), last_seen_at__gte=since)
    return rows.exclude(status__in=CLOSED).filter(lost_at__isnull=True).exclude(cluster__zone__simulated=True)


def offered(actor: Actor) -> list[Offered]:
    """Every package on offer that has a price, in the catalogue's order."""
    actor.require(Permission.BILLING_VIEW_OWN)
    packages = [package for package in funds.packages(actor) if package.price is not None]
    read_zones(packages)
    specs = [resources_of(package) for package in packages]
    limits, own = own_limits(actor), own_terms(actor)
    return [
        Offered(
            package,
            own.rate(package.price.rate_fen_per_hour),
            min(copies, _within(limits, spec)),
            by_quota=_within(limits, spec) < copies,
        )
        for package, spec, copies in zip(packages, specs, room(actor, specs), strict=True)
        if package.price is not None
    ]


def _within(limits: list[Limit], spec: Spec) -> int:
    """How many copies the tightest quotas leave."""
    lines = lines_of(quota_amounts(spec, TRAINING))
    rooms = [
        max(0, each.limit - each.used) // lines[each.resource, each.model]
        for each in limits
        if each.limit is not None and (each.resource, each.model) in lines
    ]
    return min(rooms, default=MOST)
