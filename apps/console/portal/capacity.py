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
from apps.clusters.models import Accelerator, Node, allocatable
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
        ids = tuple(pk for pk, *_amounts in nodes)
        counted = _cards(system_actor(), node_ids=ids)
        held_cpu, held_memory = next(iter(_held(system_actor(), node_ids=ids)), (0, 0))
    cpu = sum(allocatable(total, reserved) for _pk, total, reserved, *_memory in nodes)
    models = tuple((model, idle) for model, _all, idle in counted if idle)
    return Free(
        nodes=len(nodes),
        cpu_milli=cpu - held_cpu,
        cpu_total_milli=cpu,
        memory_mib=sum(allocatable(total, reserved) for *_cpu, total, reserved in nodes) - held_memory,
        cards=sum(idle for _model, idle in models),
        cards_total=sum(count for _model, count, _idle in counted),
        cards_by_model=models,
    )


def _taking_work(organisation_id: UUID) -> list[tuple[UUID, int, int, int, int]]:
    """Id, CPU and what is reserved of it, memory and what is reserved of it."""
    nodes, since = tuple(usable_nodes(organisation_id)), db_now() - SILENCE
    return _answering(system_actor(), organisation_id=organisation_id, node_ids=nodes, since=since)


@prepared
def _answering(
    actor: Actor, /, *, organisation_id: UUID, node_ids: tuple[UUID, ...], since: datetime
) -> QuerySet[Node, tuple[UUID, int, int, int, int]]:
    rows = Node.objects.filter(pk__in=node_ids, cluster__in=usable_by(organisation_id), last_seen_at__gte=since)
    found = rows.exclude(status__in=CLOSED).filter(lost_at__isnull=True, quarantine="")
    found = found.exclude(cluster__zone__simulated=True)
    return found.values_list("pk", "cpu_milli", "reserved_cpu_milli", "memory_mib", "reserved_memory_mib")


@prepared
def _cards(actor: Actor, /, *, node_ids: tuple[UUID, ...]) -> QuerySet[Accelerator, tuple[str, int, int]]:
    """By model, those with most idle cards first: how many cards there are, and how many are idle."""
    held = Placement.objects.filter(node__in=node_ids, released_at__isnull=True, accelerator__isnull=False)
    idle = Count("pk", filter=~Q(pk__in=held.values("accelerator_id")))
    cards = Accelerator.objects.filter(node__in=node_ids, healthy=True).order_by().values_list("model")
    return cards.annotate(all=Count("pk"), idle=idle).order_by("-idle", "model")


@prepared
def _held(actor: Actor, /, *, node_ids: tuple[UUID, ...]) -> QuerySet[Placement, tuple[int, int]]:
    """CPU and memory that placements hold: one row, or none."""
    held = Placement.objects.filter(node__in=node_ids, released_at__isnull=True).order_by()
    sums = held.values("released_at").annotate(cpu=Sum("cpu_milli"), memory=Sum("memory_mib"))
    return sums.values_list("cpu", "memory")


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
