"""What the owner of a set is told: once for the set, whatever number of replicas it befell.

Each is written in the transaction of what it tells. What befalls the set as a whole is not told for each replica
(`announce.TOLD_OF_SETS`).
"""

from typing import Any

from django.db.models import Max

from apps.common.actor import Actor
from apps.notifications.services import notify_user
from apps.notifications.words.sets import ENDED, FAILING, SMALLER
from apps.workloads import kinds
from apps.workloads.choices import Kind, Reason
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.replicas.replacing import STEADY_S
from apps.workloads.states import Why

OFTEN = 5
"""So many ends in a row, each soon after a start, are told."""


def tell_ended(actor: Actor, found: ReplicaSet, why: Why) -> None:
    """Nobody is told what they did themselves, nor again of the cap, which `cap_reached` has told."""
    if why.reason is Reason.CAP or _is_own(actor, found, why):
        return
    by = {"by": actor.label} if why.reason is Reason.BY_PERSON else {}
    _tell(found, ENDED, {"reason": why.reason.value, **by}, str(found.pk))


def tell_smaller(actor: Actor, found: ReplicaSet, before: int, why: Why) -> None:
    """The set goes on with fewer, for the sake of those that were stopped."""
    if _is_own(actor, found, why):
        return
    data = {"reason": why.reason.value, "before": before, "wanted": found.wanted}
    _tell(found, SMALLER, data)


def tell_failing(workload: Workload, failures: int) -> None:
    """One of its replicas has ended so often in a row; told once, until one of them has run steadily and ended."""
    if failures != OFTEN or workload.replica_set is None:
        return
    found = workload.replica_set
    data = {"reason": workload.reason, "times": failures, "replica": workload.name, "workload_id": str(workload.pk)}
    steady = Attempt.objects.filter(workload__replica_set=found, ran_for_s__gte=STEADY_S, ended_at__isnull=False)
    since = steady.aggregate(at=Max("ended_at"))["at"] or found.created_at
    _tell(found, FAILING, data, f"{found.pk}:{since.isoformat()}")


def _is_own(actor: Actor, found: ReplicaSet, why: Why) -> bool:
    """Of a single replica that was stopped, whoever did it knows, and the loop does not know who it was."""
    return why.reason is Reason.BY_PERSON and actor.user_id in {None, found.owner_id}


def _tell(found: ReplicaSet, what: str, data: dict[str, Any], key: str = "") -> None:
    replica = Workload.objects.filter(replica_set=found).order_by("-created_at", "-pk").first()
    link = {"workload_id": str(replica.pk)} if replica is not None else {}
    notice = f"{kinds.named(Kind(found.kind)).notices.subject}.{what}"
    notify_user(
        organisation_id=found.organisation_id,
        user_id=found.owner_id,
        kind=notice,
        data={**link, "replica_set": str(found.pk), "name": found.name, **data},
        dedup=f"{notice}:{key}" if key else None,
    )
