"""Data of the console's first page: running work and its burn, the queue with causes, failures, low balances."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, QuerySet, Sum

from apps.clusters.models import Accelerator, Node
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.console.hardware.nodes.selectors import counts as node_counts
from apps.console.hardware.nodes.selectors import holdings_by_node
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation
from apps.workloads import selectors as workloads
from apps.workloads.choices import PLACED, Status
from apps.workloads.models import SchedulerEpoch, Workload
from apps.workloads.waiting import WaitReport, explain_wait

SHOWN = 8
RECENT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Capacity:
    """All nodes together: milli-cores, MiB, cards; what exists and what placements hold."""

    cpu_milli: int
    cpu_held: int
    memory_mib: int
    memory_held: int
    cards: int
    cards_held: int
    cards_unwell: int


@dataclass(frozen=True, slots=True)
class Waiting:
    workload: Workload
    report: WaitReport


@dataclass(frozen=True, slots=True)
class LivingWork:
    """Live workloads of all organisations by status."""

    running: int
    starting: int
    queued: int
    stopping: int
    organisations: int


def living_work(actor: Actor) -> LivingWork:
    actor.require(Permission.PLATFORM_OVERVIEW)
    live = Workload.objects.filter(status__in=PLACED | {Status.QUEUED})
    counted = live.aggregate(
        running=Count("pk", filter=Q(status=Status.RUNNING)),
        starting=Count("pk", filter=Q(status__in=[Status.PLACED, Status.STARTING])),
        queued=Count("pk", filter=Q(status=Status.QUEUED)),
        stopping=Count("pk", filter=Q(status=Status.STOPPING)),
        organisations=Count("organisation_id", distinct=True),
    )
    return LivingWork(**counted)


def organisation_counts(actor: Actor) -> dict[str, int]:
    actor.require(Permission.PLATFORM_OVERVIEW)
    counted: dict[str, int] = Organisation.objects.aggregate(
        total=Count("pk"), active=Count("pk", filter=Q(status=OrganisationStatus.ACTIVE))
    )
    return counted


def nodes(actor: Actor) -> dict[str, int]:
    """Counts of nodes: total, ready, cordoned, silent."""
    actor.require(Permission.PLATFORM_OVERVIEW)
    return node_counts(db_now())


def capacity(actor: Actor) -> Capacity:
    """What may be allocated (capacity less reserves) and what is held; simulated machines do not count."""
    actor.require(Permission.PLATFORM_OVERVIEW)
    total = Node.objects.filter(cluster__zone__simulated=False).aggregate(
        cpu=Sum("cpu_milli"),
        kept_cpu=Sum("reserved_cpu_milli"),
        memory=Sum("memory_mib"),
        kept=Sum("reserved_memory_mib"),
    )
    real = Accelerator.objects.filter(node__cluster__zone__simulated=False)
    cards = real.aggregate(total=Count("pk"), unwell=Count("pk", filter=Q(healthy=False)))
    held = holdings_by_node(simulated=False).values()
    return Capacity(
        cpu_milli=(total["cpu"] or 0) - (total["kept_cpu"] or 0),
        cpu_held=sum(node.cpu_milli for node in held),
        memory_mib=(total["memory"] or 0) - (total["kept"] or 0),
        memory_held=sum(node.memory_mib for node in held),
        cards=cards["total"],
        cards_held=sum(node.cards for node in held),
        cards_unwell=cards["unwell"],
    )


def queue(actor: Actor) -> list[Waiting]:
    """The longest waiting work, each with the scheduler's last cause."""
    rows = workloads.visible(actor).filter(status=Status.QUEUED).order_by("queued_at")[:SHOWN]
    return [Waiting(workload, explain_wait(actor, workload)) for workload in rows]


def recent_failures(actor: Actor) -> QuerySet[Workload]:
    """Failures of the last week, newest first."""
    rows = workloads.visible(actor).filter(status=Status.FAILED, ended_at__gte=db_now() - RECENT)
    return rows.order_by("-ended_at")[:SHOWN]


def last_pass(actor: Actor) -> SchedulerEpoch | None:
    """The newest scheduling pass; None before the first."""
    actor.require(Permission.PLATFORM_OVERVIEW)
    return SchedulerEpoch.objects.filter(pk=1).first()
