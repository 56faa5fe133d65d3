"""Nodes that swallow work: whatever they are given is lost before its program begins, and so they are free for more.

One such node among good ones would be given all that waits, one after the other, and fail it. So the platform counts
what a node loses: after `MOST_LOSSES` in a row, with nothing that began there in between, it is given no more work
until a person, or a check-up that a person orders, opens it again, or for `PAUSE`: what was wrong may be over, and
where there is no other node everybody waits for this one. Only what never began is counted, since no program
can bring that about, and only where no single event explains it, as a restart of the machine does. What was lost there
does not count against its work.

`MOST_LOSSES` of one workload alone close a node only if there are others to take it, and if it was lost on none of
them: a workload that is lost wherever it goes closes no second node.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max, Q

from apps.clusters import services
from apps.clusters.choices import NodeStatus, Quarantine
from apps.clusters.models import Node
from apps.clusters.node_quarantine import Grounds
from apps.clusters.selectors import UNSEEN_AFTER
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.workloads.drivers.base import Exit, ExitReason
from apps.workloads.drivers.said import Code
from apps.workloads.models import Attempt

MOST_LOSSES = 3
WINDOW = timedelta(minutes=10)
PAUSE = timedelta(minutes=30)
"""A node that is still bad then loses as many tries again, which cost their work nothing but seconds."""
# One event ends all that a node has, and says nothing of what it is given next.
ONE_EVENT = frozenset(
    {Code.MACHINE_RESTARTED, Code.POD_TAKEN_AWAY, Code.POD_PREEMPTED, Code.POD_DRAINED, Code.POD_NODE_LOST}
)

FORGIVEN = ~Q(node__quarantine="") | Q(node__quarantine_changed_at__gte=F("ended_at"))
"""Attempts that ended on a node which the platform has closed then or since: they prove nothing about their work."""


@dataclass(frozen=True, slots=True)
class Loss:
    """As `Node.losses` keeps it: whose, which try, and when."""

    workload: str
    attempt: str
    at: datetime

    @classmethod
    def from_json(cls, data: dict[str, str]) -> "Loss":
        return cls(data["workload"], data["attempt"], datetime.fromisoformat(data["at"]))

    def as_json(self) -> dict[str, str]:
        return {"workload": self.workload, "attempt": self.attempt, "at": self.at.isoformat()}


def is_swallowed(attempt: Attempt, end: Exit, ran_for_s: float | None) -> bool:
    """Whether the node is to blame for this end, as far as a single one can tell."""
    if end.reason is not ExitReason.LOST or ran_for_s is not None or attempt.started_at is not None:
        return False
    if attempt.member_count > 1:  # of a gang, nobody knows which of its nodes it was
        return False
    return end.said is None or end.said.code not in ONE_EVENT


def record_loss(actor: Actor, attempt: Attempt, now: datetime) -> bool:
    """Note it on its node, and close the node at the loss that is one too many; whether it is closed now.

    The node's row is locked meanwhile, so that of losses that end at once each sees those before it.
    """
    with transaction.atomic():
        node = Node.everything.select_for_update().get(pk=attempt.node_id)
        if node.quarantine:
            return True
        mine = Loss(str(attempt.workload_id), str(attempt.pk), now)
        losses = [each for each in _in_a_row(node, now) if each.attempt != mine.attempt] + [mine]
        if len(losses) < MOST_LOSSES or not _is_to_blame(node, losses, now):
            Node.everything.filter(pk=node.pk).update(losses=[each.as_json() for each in losses[-MOST_LOSSES:]])
            return False
        _close(actor, node, losses)
    return True


def try_again(actor: Actor) -> int:
    """Let nodes take work that have been closed for `PAUSE`; how many."""
    before = db_now() - PAUSE
    rows = Node.objects.filter(quarantine=Quarantine.LOSES_WORK, quarantine_changed_at__lte=before)
    ids = list(rows.values_list("pk", flat=True))
    return services.lift(actor, node_ids=ids, reasons=[Quarantine.LOSES_WORK], before=before) if ids else 0


def _in_a_row(node: Node, now: datetime) -> list[Loss]:
    """What it lost lately, since something last began there and since it was last opened, the oldest first."""
    began = Attempt.objects.filter(node=node, started_at__isnull=False).aggregate(at=Max("started_at"))["at"]
    since = max(filter(None, (now - WINDOW, began, node.quarantine_changed_at)))
    return [loss for loss in map(Loss.from_json, node.losses) if loss.at > since]


def _is_to_blame(node: Node, losses: Iterable[Loss], now: datetime) -> bool:
    concerned = {UUID(loss.workload) for loss in losses}
    if len(concerned) > 1:
        return True
    elsewhere = Attempt.objects.filter(workload__in=concerned, exit_reason=ExitReason.LOST, ran_for_s__isnull=True)
    if elsewhere.exclude(node=node).filter(given_up_at__isnull=True).exists():
        return False
    return _has_others(node, now)


def _has_others(node: Node, now: datetime) -> bool:
    """Whether other nodes take work, in the same world."""
    rows = Node.objects.filter(
        status=NodeStatus.READY, quarantine="", lost_at__isnull=True, last_seen_at__gte=now - UNSEEN_AFTER
    )
    return rows.filter(cluster__zone__simulated=node.cluster.zone.simulated).exclude(pk=node.pk).exists()


def _close(actor: Actor, node: Node, losses: list[Loss]) -> None:
    grounds = Grounds(losses=len(losses))
    services.quarantine(actor, node_id=node.pk, why=Quarantine.LOSES_WORK, grounds=grounds)
    Node.everything.filter(pk=node.pk).update(losses=[])
    notify_platform(
        permission=Permission.PLATFORM_NODES_MANAGE,
        kind="node.loses_work",
        data={"node_id": str(node.pk), "name": node.name, "count": len(losses)},
        dedup=f"node.loses_work:{node.pk}:{losses[-1].at:%Y-%m-%d}",  # not each half hour
    )
