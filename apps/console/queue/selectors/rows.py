"""The queue itself, in the order of turns: pages of it, however long it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import F, IntegerField, Manager, Q, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

import scheduler
from apps.clusters.models import LogicalCluster, Node, Zone
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.console.queue.selectors.focus import Focus, request_of, waiting
from apps.workloads.explaining.names import Names, node_of
from apps.workloads.models import Workload
from apps.workloads.waiting import WaitReport, explain


@dataclass(frozen=True, slots=True)
class Row:
    """A workload that waits, what it asks for, and the scheduler's last word on why and until when."""

    workload: Workload
    gpu: scheduler.GpuRequest | None
    report: WaitReport


@dataclass(frozen=True, slots=True)
class Kept:
    """A workload that waits with room kept for it on these nodes, and when it should start there."""

    workload: Workload
    node_ids: list[str]
    since: datetime | None
    start_p50: datetime | None
    start_p90: datetime | None


def kept(workload: Workload) -> Kept:
    told = workload.explanation
    start = instant(told.get("start_p50")), instant(told.get("start_p90"))
    return Kept(workload, workload.promised_nodes, workload.promised_at, *start)


def in_turn(actor: Actor, focus: Focus) -> QuerySet[Workload]:
    """As the last pass ordered it; what it has not looked at yet comes last, the oldest first."""
    actor.require(Permission.PLATFORM_WORKLOADS_VIEW)
    turn = Cast(KT("explanation__position"), IntegerField())
    return waiting(focus).order_by(turn.asc(nulls_last=True), "queued_at", "pk")


def searched(rows: QuerySet[Workload], words: str) -> QuerySet[Workload]:
    """By the name of the workload or of its organisation."""
    return rows.filter(Q(name__icontains=words) | Q(organisation__name__icontains=words)) if words else rows


def ids(rows: QuerySet[Workload]) -> QuerySet[Workload, UUID]:
    """Only what is sorted by is read: the rows of a long queue are wide."""
    return rows.values_list("pk", flat=True)


def rows_of(found: Iterable[UUID]) -> list[Row]:
    """These workloads in this order. A fixed number of queries."""
    wanted = list(found)
    here = Workload.objects.filter(pk__in=wanted).select_related("organisation", "owner", "package")
    by_id = {workload.pk: workload for workload in here}
    return told([by_id[pk] for pk in wanted if pk in by_id])


def told(found: Iterable[Workload]) -> list[Row]:
    """Rows with their words; the names that these speak of are read for all at once."""
    workloads = list(found)
    nodes = _named(Node.everything, (node_of(workload.explanation) for workload in workloads))
    zones = _named(Zone.everything, (_param(workload, "zone") for workload in workloads))
    clusters = _named(LogicalCluster.everything, (_param(workload, "cluster") for workload in workloads))
    return [
        _row(
            workload,
            Names(
                node=nodes.get(node_of(workload.explanation) or "", ""),
                zone=zones.get(_param(workload, "zone") or "", ""),
                cluster=clusters.get(_param(workload, "cluster") or "", ""),
            ),
        )
        for workload in workloads
    ]


def _param(workload: Workload, name: str) -> str | None:
    found: str | None = (workload.explanation.get("params") or {}).get(name)
    return found


def _named(rows: Manager[Any], keys: Iterable[str | None]) -> dict[str, str]:
    wanted = {key for key in keys if key}
    return {str(pk): name for pk, name in rows.filter(pk__in=wanted).values_list("pk", "name")} if wanted else {}


def _row(workload: Workload, names: Names) -> Row:
    report = explain(workload.explanation, gpu=workload.frozen_spec.gpu, names=names)
    return Row(workload, request_of(workload.spec.get("gpu")), report)


def instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def by_time(actor: Actor, focus: Focus) -> QuerySet[Workload]:
    """The same in the order of queueing, which does not change while one reads: for cursors."""
    actor.require(Permission.PLATFORM_WORKLOADS_VIEW)
    rows = waiting(focus).select_related("organisation", "owner")
    return rows.order_by(F("queued_at").asc(), "pk")
