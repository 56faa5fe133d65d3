"""Machines that are lost: their work is given up, fenced and ended, and ended on them when they come back.

The platform alone decides that a machine is lost, here: an operator says so, or it was silent for too long. Each step
is a row, so whoever dies on the way, the next turn goes on:

1. given up (`Attempt.given_up_at`): nobody looks at it or lets it run any more, whatever the machine does now;
2. fenced: on the storage that it shares with the platform, its shim finds that it must end;
3. ended at the last proof that it ran, and queued again where it is wanted;
4. gone (`Attempt.gone_at`; of a gang, `Member.gone_at` first): the machine is heard again and proves that nothing of
   it runs. Only then it takes work.
"""

import logging
from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters.models import Node
from apps.clusters.selectors import UNSEEN_AFTER
from apps.clusters.services import locked_node, target
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.workloads import announce, nudge
from apps.workloads.choices import Status
from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.capabilities import FencingMixin
from apps.workloads.hardware import holding
from apps.workloads.models import Attempt, Member, Workload
from apps.workloads.nodes import driver_named, drivers, is_own_machine
from apps.workloads.programs import Program, attempts_by_ref, is_gang, programs_of, with_program_on
from apps.workloads.reconcile import outcome
from apps.workloads.states import Claim

log = logging.getLogger(__name__)

# A heartbeat that was on its way when its machine was given up may still name less than what runs there.
ON_ITS_WAY = timedelta(seconds=60)
# Fences of what is gone stay for so long: a launch may still be on its way.
KEEP_FENCES = timedelta(hours=1)


def declare(actor: Actor, *, node_id: UUID) -> Node:
    """An operator says that the machine is lost. Repeated: it is already. Raises Conflict for one that is well."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if is_own_machine(node):
            raise Conflict(_("This machine runs the platform itself: it is not lost while you read this."))
        if node.lost_at is None:
            if is_well(node):
                raise Conflict(_("The node answers, and so does its work."), hint=_("Drain it."))
            _give_up(actor, node, by=actor.label[:200])
    advance(actor)
    node.refresh_from_db()
    return node


def declare_silent(actor: Actor, *, node_id: UUID, limit: timedelta) -> bool:
    """The same by the platform itself, unless the machine was heard in the meantime."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if node.lost_at is not None or node.silent_for < limit:
            return False
        _give_up(actor, node, by="")
    return True


def is_well(node: Node) -> bool:
    """Whether the machine is heard from, and all of its work can be seen."""
    since = db_now() - UNSEEN_AFTER
    if node.last_seen_at < since or node.switched_off:
        return False
    unseen = Q(seen_at__lt=since) | Q(seen_at__isnull=True, placed_at__lt=since)
    return not holding.attempts_on_node(node.pk).filter(unseen).exists()


def _give_up(actor: Actor, node: Node, *, by: str) -> None:
    """Decide. From here on there is no way back for its work, and the machine waits to be heard again."""
    since = node.last_seen_at
    Node.objects.filter(pk=node.pk).update(lost_at=Now(), lost_by=by)
    count = _give_up_work(with_program_on(node.pk))
    data = {"node_id": str(node.pk), "name": node.name, "since": since.isoformat(), "workloads": count, "by": by}
    record(actor, action="node.lost", target=target(node), after={"since": since.isoformat(), "workloads": count})
    notify_platform(
        permission=Permission.PLATFORM_NODES_MANAGE,
        kind="node.lost",
        data=data,
        dedup=f"node.lost:{node.pk}:{db_now().timestamp()}",
    )


def _give_up_work(where: Q) -> int:
    """A risen fence voids what a worker that looks at it just now will bring."""
    rows = Attempt.objects.filter(where, ended_at__isnull=True, given_up_at__isnull=True)
    return rows.update(given_up_at=Now(), fence=F("fence") + 1, lease_until=None)


def advance(actor: Actor) -> int:
    """Fence and end what was given up; how many attempts ended."""
    # Placed by a scheduling pass that had read the node before it was lost.
    _give_up_work(with_program_on(Node.objects.filter(lost_at__isnull=False).values_list("pk", flat=True)))
    due = Attempt.objects.filter(given_up_at__isnull=False, ended_at__isnull=True).select_related("node", "workload")
    ended = 0
    for attempt in list(due.order_by("given_up_at", "pk")):
        try:
            ended += _is_fenced(attempt) and _others_have_ended(attempt) and _end(actor, attempt.pk)
        except Exception:
            log.exception("attempt %s of the lost node %s could not be ended", attempt.pk, attempt.node.name)
    return ended


def _is_fenced(attempt: Attempt) -> bool:
    """Put its fence up; whether what sees it has ended by now. Where its driver knows no fences, none is needed."""
    fenced = [_is_program_fenced(attempt, program) for program in programs_of(attempt)]
    return all(fenced)


def _is_program_fenced(attempt: Attempt, program: Program) -> bool:
    driver = driver_named(program.node.driver)
    if not isinstance(driver, FencingMixin) or attempt.given_up_at is None:
        return True
    try:
        driver.fence(str(program.pk))
    except OSError as error:  # whoever fills the disk must not keep others from their quota for ever
        log.error("attempt %s could not be fenced: %s", attempt.pk, error)
    return db_now() - attempt.given_up_at >= driver.fenced_within


def _others_have_ended(attempt: Attempt) -> bool:
    """Of a gang, what is on machines that are not lost is stopped first: it would go on without those that are."""
    if not is_gang(attempt):
        return True
    answering = {each.node for each in programs_of(attempt) if each.node.lost_at is None}
    gone = [_has_left(node, attempt) for node in answering]
    return all(gone)


def _has_left(node: Node, attempt: Attempt) -> bool:
    """Asked of the machine, and noted: whether nothing of the attempt runs there any more."""
    gone = [_is_gone(node, program) for program in programs_of(attempt) if program.node_id == node.pk]
    if not all(gone):
        return False
    _record_gone(node.pk, [attempt.pk])
    return True


def _record_gone(node_id: UUID, attempts: Collection[UUID]) -> None:
    """Nothing of these runs on the node. An attempt is gone once that is so on each machine of its members."""
    Member.objects.filter(attempt__in=attempts, node_id=node_id, gone_at__isnull=True).update(gone_at=Now())
    elsewhere = Member.objects.filter(attempt__in=attempts, gone_at__isnull=True).values("attempt_id")
    Attempt.objects.filter(pk__in=attempts, gone_at__isnull=True).exclude(pk__in=elsewhere).update(gone_at=Now())


def _end(actor: Actor, pk: UUID) -> bool:
    """One attempt's rows, money and notice together. False: somebody else is at it."""
    with transaction.atomic():
        rows = Attempt.objects.filter(pk=pk, ended_at__isnull=True).select_related("workload", "node")
        attempt = rows.select_for_update(of=("self", "workload"), skip_locked=True).first()
        if attempt is None:
            return False
        Attempt.objects.filter(pk=pk).update(fence=F("fence") + 1)
        if not outcome.lost_with_node(actor, Claim(attempt, attempt.fence + 1)):
            return False
        workload = attempt.workload
        data = {"node": attempt.node.name, "queued": workload.status == Status.QUEUED, "attempt": attempt.number}
        _tell_loss(workload, attempt, data)
    return True


def _tell_loss(workload: Workload, attempt: Attempt, data: dict[str, Any]) -> None:
    """Of a set once, however many of its replicas went with the machine."""
    found, key = workload.replica_set, str(attempt.pk)
    if found is not None:
        data, key = {**data, "name": found.name}, f"{found.pk}:{attempt.node_id}:{attempt.node.lost_at}"
    announce.tell_owner(workload, "lost", data, key)


def unproved_attempts(node_id: UUID) -> QuerySet[Attempt]:
    """What was given up on the node and may still run there."""
    members = Member.objects.filter(node_id=node_id, gone_at__isnull=True).values("attempt_id")
    where = Q(node_id=node_id, workload__member_count=1) | Q(pk__in=members)
    rows: QuerySet[Attempt] = Attempt.objects.filter(where, given_up_at__isnull=False, gone_at__isnull=True)
    return rows


def programs_to_end(living: Collection[UUID]) -> set[UUID]:
    """Of what a machine says that runs there, what has to end at once: also under another node, as after a removal."""
    attempts = attempts_by_ref(living)
    rows = Attempt.objects.filter(pk__in=attempts.values(), given_up_at__isnull=False)
    ended = set(rows.values_list("pk", flat=True))
    return {ref for ref, attempt in attempts.items() if attempt in ended}


def record_heartbeat(node: Node, living: Collection[UUID]) -> None:
    """What the machine itself, in a heartbeat, does not name any more is gone."""
    long_ago = unproved_attempts(node.pk).filter(given_up_at__lt=Now() - ON_ITS_WAY)
    gone = long_ago.exclude(pk__in=attempts_by_ref(living).values())
    _record_gone(node.pk, list(gone.values_list("pk", flat=True)))


def readmit_returned_nodes(actor: Actor) -> int:
    """End what was given up on machines that are heard again, and let those take work on which nothing is left."""
    back = Node.objects.filter(lost_at__isnull=False, last_seen_at__gt=F("lost_at"))
    returned = 0
    for node in list(back.filter(last_seen_at__gte=db_now() - UNSEEN_AFTER)):
        for attempt in list(unproved_attempts(node.pk).select_related("workload", "node")):
            _has_left(node, attempt)
        returned += _welcome(actor, node.pk)
    _remove_old_fences()
    return returned


def _is_gone(node: Node, program: Program) -> bool:
    """Asked of the machine: to end it now, and whether it has ended. Its name derives from its id, launched or not."""
    driver, handle = driver_named(node.driver), Handle(node.driver, node.name, str(program.pk))
    try:
        driver.stop(handle, 0.0)
        return driver.observe(handle).phase.is_final
    except DriverError as error:
        log.info("%s, given up, cannot be seen: %s", program.pk, error)
        return False


def _welcome(actor: Actor, node_id: UUID) -> bool:
    """Back into service. The operators' own closing of the node stays as it is."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if node.lost_at is None or unproved_attempts(node.pk).exists():
            return False
        stopped = Attempt.objects.filter(with_program_on(node.pk), given_up_at__gte=node.lost_at).count()
        Node.objects.filter(pk=node.pk).update(lost_at=None, lost_by="", silent_for=timedelta(0), silent_since=None)
        record(actor, action="node.returned", target=target(node), after={"workloads": stopped})
        data = {"node_id": str(node.pk), "name": node.name, "since": node.lost_at.isoformat(), "workloads": stopped}
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind="node.returned",
            data=data,
            dedup=f"node.returned:{node.pk}:{node.lost_at.timestamp()}",
        )
    nudge.schedule()
    return True


def _remove_old_fences() -> None:
    now = db_now()
    gone = Attempt.objects.filter(gone_at__lt=now - KEEP_FENCES, gone_at__gte=now - 2 * KEEP_FENCES)
    for name, driver in drivers().items():
        if isinstance(driver, FencingMixin):
            for attempt in gone.filter(node__driver=name).select_related("workload"):
                for program in programs_of(attempt):
                    driver.unfence(str(program.pk))
