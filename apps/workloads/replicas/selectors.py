"""Reading sets of replicas, as far as the actor may, and summing their replicas up."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.workloads import selectors
from apps.workloads.choices import LIVE, Desired, Kind, Reason, Status
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.permissions import seen_rows


@dataclass(frozen=True, slots=True)
class Summary:
    """The replicas of a set in numbers. `serving` of `wanted` run; of those that are wanted too, `starting` are being
    prepared and `waiting` queue, a pause before the next try included; `leaving` are being stopped.
    """

    wanted: int
    serving: int
    starting: int
    waiting: int
    leaving: int
    status: Status

    @property
    def words(self) -> str:
        """`2 of 3 serve`."""
        if self.status in (Status.STOPPING, Status.STOPPED):
            return str(self.status.label)
        return _("%(serving)s of %(wanted)s serve") % {"serving": self.serving, "wanted": self.wanted}


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica that has not ended, with its newest attempt. `restarts`: tries after its first.

    `since`: of its status. `again_at`: when it queues again, while it pauses after an end that nobody asked for.
    """

    workload: Workload
    attempt: Attempt | None
    again_at: datetime | None

    @property
    def index(self) -> int:
        return self.workload.replica_index or 0

    @property
    def restarts(self) -> int:
        return max(0, self.workload.attempt_number - 1) + (self.again_at is not None)

    @property
    def since(self) -> datetime:
        return self.workload.status_since

    @property
    def node(self) -> str:
        """The name of the machine that it is on; empty while it waits."""
        return self.attempt.node.name if self.attempt is not None and self.attempt.ended_at is None else ""

    @property
    def why(self) -> str:
        """Why it queues again."""
        return str(Reason(self.workload.reason).label) if self.workload.reason in Reason.values else ""

    @property
    def is_stale(self) -> bool:
        return self.attempt is not None and selectors.is_stale(self.attempt)


def visible(actor: Actor, kind: Kind) -> QuerySet[ReplicaSet]:
    """One's own sets of a kind; those of the organisation for who manages them; all for the platform's staff."""
    rows: QuerySet[ReplicaSet] = ReplicaSet.objects.select_related("owner", "package", "organisation")
    return seen_rows(actor, kind, rows.filter(kind=kind))


def get(actor: Actor, set_id: UUID) -> ReplicaSet:
    """One visible set; `NotFound` otherwise, `Denied` for who may not look at its kind."""
    kind = ReplicaSet.objects.filter(pk=set_id).values_list("kind", flat=True).first()
    found = None if kind is None else visible(actor, Kind(kind)).filter(pk=set_id).first()
    if found is None:
        raise NotFound
    return found


def replicas(found: ReplicaSet) -> list[Replica]:
    """Those that have not ended, by number; the caller has checked that the actor may see the set."""
    rows = list(Workload.objects.filter(replica_set=found, status__in=LIVE).order_by("replica_index"))
    tries = Attempt.objects.filter(workload__in=rows).select_related("node", "workload")
    newest = {each.workload_id: each for each in tries.order_by("workload_id", "-number").distinct("workload_id")}
    now = db_now()
    return [Replica(row, newest.get(row.pk), _again_at(row, now)) for row in rows]


def _again_at(workload: Workload, now: datetime) -> datetime | None:
    return workload.queued_at if workload.status == Status.QUEUED and workload.queued_at > now else None


def replica(found: ReplicaSet, index: int) -> Replica:
    """The live one of this number; raises `NotFound`."""
    chosen = next((each for each in replicas(found) if each.index == index), None)
    if chosen is None:
        raise NotFound
    return chosen


def summary(found: ReplicaSet) -> Summary:
    """Of one set."""
    return summaries([found])[found.pk]


def summaries(sets: Iterable[ReplicaSet]) -> Mapping[UUID, Summary]:
    """By id, in one query. A set has no status of its own: it runs as soon as one of its replicas does."""
    asked = list(sets)
    counts: defaultdict[UUID, Counter[tuple[str, str]]] = defaultdict(Counter)
    live = Workload.objects.filter(replica_set__in=asked, status__in=LIVE)
    for set_id, status, desired in live.values_list("replica_set_id", "status", "desired"):
        if set_id is not None:
            counts[set_id][status, desired] += 1
    return {found.pk: _summary(found, counts[found.pk]) for found in asked}


def _summary(found: ReplicaSet, counts: Counter[tuple[str, str]]) -> Summary:
    def wanted(*statuses: Status) -> int:
        return sum(counts[status, Desired.RUNNING] for status in statuses)

    serving, starting, waiting = (
        wanted(Status.RUNNING),
        wanted(Status.PLACED, Status.STARTING),
        wanted(Status.QUEUED),
    )
    leaving = sum(counts.values()) - serving - starting - waiting
    status = _status(found, serving, starting)
    return Summary(found.wanted, serving, starting, waiting, leaving, status)


def _status(found: ReplicaSet, serving: int, starting: int) -> Status:
    if found.ended_at is not None:
        return Status.STOPPED
    if found.desired == Desired.STOPPED:
        return Status.STOPPING
    if serving:
        return Status.RUNNING
    return Status.STARTING if starting else Status.QUEUED
