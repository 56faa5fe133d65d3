"""What the queue keeps between passes: room that was promised, and nodes that were emptied for somebody."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, OuterRef, Subquery

import scheduler
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.workloads import announce
from apps.workloads.choices import PreemptionOutcome, Status
from apps.workloads.models import Preemption, Workload

EVENT = "promise"
"""The kind of the event. Data: `was` and `now`, names of the machines where room was, and is, kept for a workload."""

# For so long what was emptied for a task is kept for it; then it is anybody's again.
HOLD = timedelta(minutes=10)
GONE = (PreemptionOutcome.REQUEUED, PreemptionOutcome.FINISHED)

Nodes = Mapping[str, tuple[str, ...]]


def promised(waiting: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Nodes where room is kept, by waiting task; older promises first, so that a new one never moves an old one."""
    here = frozenset(waiting)
    rows = (
        Workload.objects.filter(status=Status.QUEUED, promised_at__isnull=False)
        .order_by("promised_at", "pk")
        .values_list("pk", "promised_nodes")
    )
    return {str(task): tuple(nodes) for task, nodes in rows if str(task) in here}


def keep(waits: Iterable[scheduler.Wait], before: Nodes, now: datetime) -> None:
    """Write where the pass kept room, and forget what it did not keep. `before`: what `promised` said to it."""
    found = {wait.task_id: wait.reserved_nodes for wait in waits if wait.reserved_nodes}
    broken = [UUID(task) for task in before if task not in found]
    if broken:
        forget(broken)
    # A microsecond apart: promises of one pass keep the order of its queue.
    for place, (task, nodes) in enumerate(found.items()):
        rows = Workload.objects.filter(pk=UUID(task), status=Status.QUEUED)
        if task not in before:
            rows.update(promised_nodes=list(nodes), promised_at=now + timedelta(microseconds=place))
        elif before[task] != nodes:
            rows.update(promised_nodes=list(nodes))


def tell(actor: Actor, changes: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> None:
    """An event for each task that had been told of other nodes than now: room kept, moved, or kept no more."""
    news = {task: nodes for task, nodes in changes.items() if set(nodes[0]) != set(nodes[1])}
    if not news:
        return
    names = Node.objects.in_bulk({UUID(node) for pair in news.values() for nodes in pair for node in nodes})
    workloads = Workload.objects.filter(pk__in=list(news)).only(*announce.EVENT_COLUMNS)
    told = {workload: [_named(nodes, names) for nodes in news[str(workload.pk)]] for workload in workloads}
    announce.events(actor, EVENT, {workload: {"was": was, "now": now} for workload, (was, now) in told.items()})


def _named(nodes: Sequence[str], names: Mapping[UUID, Node]) -> list[str]:
    """Nodes that were removed meanwhile have no name left."""
    return [names[UUID(node)].name for node in nodes if UUID(node) in names]


def forget(workloads: Iterable[UUID]) -> None:
    """Nothing is promised to these any more."""
    Workload.objects.filter(pk__in=list(workloads), promised_at__isnull=False).update(
        promised_nodes=[], promised_at=None
    )


def holds(waiting: Iterable[str], now: datetime) -> dict[str, tuple[str, ...]]:
    """Nodes that were emptied for a task during its present stay in the queue, for a while after the last one left."""
    here = frozenset(waiting)
    stay = Workload.objects.filter(pk=OuterRef("for_workload_id"), status=Status.QUEUED).values("queued_at")
    rows = (
        Preemption.objects.filter(ended_at__gt=now - HOLD, outcome__in=GONE)
        .annotate(stay=Subquery(stay))
        .filter(asked_at__gte=F("stay"))
        .order_by("pk")
        .values_list("for_workload_id", "attempt__node_id")
    )
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for task, node in rows:
        if str(task) in here:
            found[str(task)][str(node)] = None
    return {task: tuple(nodes) for task, nodes in found.items()}
