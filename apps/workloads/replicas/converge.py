"""The loop that makes a set of replicas what it should be. Safe to repeat, and to be killed anywhere.

Replicas end for good only when they are stopped: what ends by itself is replaced (`replacing`). So one that was stopped
without its set having been scaled was stopped for its own sake, and the set is smaller by it.
"""

import logging
from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads.choices import LIVE, NOT_STARTED, Desired, Reason, Status
from apps.workloads.models import ReplicaSet, Workload
from apps.workloads.replicas import states as sets
from apps.workloads.states import Why, stop

log = logging.getLogger(__name__)

_WANTED = Q(status__in=LIVE, desired=Desired.RUNNING)


def sweep(actor: Actor) -> int:
    """Look at every set that is not as it should be; how many. One's trouble keeps no other from being looked at."""
    rows = ReplicaSet.objects.filter(ended_at__isnull=True).order_by("pk")
    wanted = Q(replicas__status__in=LIVE, replicas__desired=Desired.RUNNING)
    counted = rows.annotate(running=Count("replicas", filter=wanted))
    due = list(counted.filter(Q(desired=Desired.STOPPED) | ~Q(running=F("wanted"))).values_list("pk", flat=True))
    for set_id in due:
        try:
            converge(actor, set_id)
        except Exception:
            log.exception("the replicas of %s could not be brought to what they should be", set_id)
    return len(due)


def converge(actor: Actor, set_id: UUID) -> None:
    """One set; while somebody else is at it, theirs is enough."""
    with transaction.atomic():
        found = sets.locked(set_id, skip_locked=True)
        if found is not None and found.ended_at is None:
            settle(actor, found)


def settle(actor: Actor, found: ReplicaSet) -> None:
    """Bring the replicas to what the row says, or the row to those that were stopped. Needs the set's lock."""
    if found.desired == Desired.RUNNING:
        _settle_number(actor, found)
    if found.desired == Desired.STOPPED:
        _settle_end(actor, found)


def _settle_number(actor: Actor, found: ReplicaSet) -> None:
    wanted = list(wanted_replicas(found))
    refused = _unwanted(found).filter(reason__in=NOT_STARTED).first()
    if refused is not None or not wanted:
        sets.end(actor, found, _why(refused or _unwanted(found).first()))
    elif len(wanted) < found.wanted:
        sets.want(actor, found, len(wanted), _why(_unwanted(found).first()))
    else:
        stop_surplus(actor, found, wanted)


def stop_surplus(actor: Actor, found: ReplicaSet, wanted: Sequence[Workload]) -> None:
    """Of these, stop the least useful ones beyond the number that is wanted."""
    surplus = sorted(wanted, key=usefulness)[: max(0, len(wanted) - found.wanted)]
    _stop_all(actor, surplus, Why(Reason.SCALED, {"by": actor.label}))


def _stop_all(actor: Actor, replicas: Sequence[Workload], why: Why) -> None:
    """All rows are locked before the first is stopped, since what an end gives back is locked after them."""
    rows = Workload.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    for replica in list(rows.filter(pk__in=[each.pk for each in replicas])):
        stop(actor, replica, why)


def usefulness(replica: Workload) -> tuple[int, float, int]:
    """Least first: what waits, then what starts, then what serves; the youngest of each first."""
    steps = (Status.QUEUED, Status.PLACED, Status.STARTING, Status.RUNNING)
    return steps.index(Status(replica.status)), -replica.status_since.timestamp(), -(replica.replica_index or 0)


def _settle_end(actor: Actor, found: ReplicaSet) -> None:
    # What is being saved is stopped by its own deadline; what is being stopped has been asked already.
    unasked = _live(found).filter(Q(desired=Desired.RUNNING) | Q(status=Status.QUEUED), stop_reason="")
    _stop_all(actor, list(unasked), Why(Reason(found.reason), found.reason_data))
    if not _live(found).exists():
        last = Workload.objects.filter(replica_set=found).aggregate(at=Max("ended_at"))["at"]
        sets.ended(actor, found, last or db_now())


def wanted_replicas(found: ReplicaSet) -> QuerySet[Workload]:
    """Those that nobody has asked to end, whether they serve, start or wait."""
    rows: QuerySet[Workload] = Workload.objects.filter(_WANTED, replica_set=found)
    return rows


def taken_indexes(found: ReplicaSet) -> set[int]:
    """Numbers of replicas that have not ended, those that are being stopped among them."""
    return {each.replica_index for each in _live(found).only("replica_index") if each.replica_index is not None}


def end_all(actor: Actor, set_id: UUID, why: Why) -> bool:
    """Stop every replica, for good; False where that was asked before."""
    with transaction.atomic():
        found = sets.locked(set_id)
        if found is None or found.desired == Desired.STOPPED:
            return False
        sets.end(actor, found, why)
        settle(actor, found)
        return True


def _live(found: ReplicaSet) -> QuerySet[Workload]:
    rows: QuerySet[Workload] = Workload.objects.filter(replica_set=found, status__in=LIVE)
    return rows


def _unwanted(found: ReplicaSet) -> QuerySet[Workload]:
    """Those that have ended or are asked to, the last one first; who was scaled away says nothing about its set."""
    rows: QuerySet[Workload] = Workload.objects.filter(replica_set=found).exclude(_WANTED)
    return rows.exclude(reason=Reason.SCALED).order_by(F("ended_at").desc(nulls_first=True), "-status_since", "-pk")


def _why(replica: Workload | None) -> Why:
    if replica is None:
        return Why(Reason.BY_PERSON)
    return Why(Reason(replica.reason), replica.reason_data)
