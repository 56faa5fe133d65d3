"""How long a machine has been silent while the platform listened, and whether that makes it lost.

Only time in which the platform would have heard it counts: each turn adds what has passed since the turn before, and a
pause between turns (the worker was down, the platform was off for a week) starts the count anew. What any loop saw of
the machine's work is a sign of life too, and before the decision the machine is asked once more: so a platform that is
deaf on one side loses nobody.

A node of a cluster is heard while the cluster says that it is ready, and a cluster that does not answer loses nobody.

The platform's own machine is never lost: whoever counts, runs there.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Case, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Greatest, Now

from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.workloads.drivers.capabilities import AnswersMixin
from apps.workloads.hardware import lost, policy
from apps.workloads.models import Attempt, Member
from apps.workloads.nodes import driver_named, drivers

log = logging.getLogger(__name__)

NOTHING = timedelta(0)
# Turns follow each other every five seconds; after a longer pause nobody knows what was not heard.
PAUSE = timedelta(seconds=30)
# From so many machines on, the silence of all at once is taken for the platform's own: its network is down.
FEWEST_FOR_OWN_FAULT = 3


def declare_silent_nodes_lost(actor: Actor) -> int:
    """One turn: count silences, and declare lost who was silent for too long; how many were."""
    _count()
    limit = policy.rules().lost_after
    if limit is None:
        return 0
    silent = list(losable_nodes().filter(lost_at__isnull=True, silent_for__gte=limit))
    if not silent or _is_own_fault(silent):
        return 0
    return sum(_declare(actor, node, limit) for node in silent)


def losable_nodes() -> QuerySet[Node]:
    """Machines that can be lost: those that are asked over a network, those of clusters, and simulated ones that were
    switched off.
    """
    of_clusters = Q(cluster__zone__kubernetes__isnull=False)
    can_be_lost = Q(driver__in=_asked_drivers()) | of_clusters | Q(switched_off=True)
    rows: QuerySet[Node] = Node.objects.filter(pk__in=Node.objects.filter(can_be_lost).values("pk"))
    return rows


def _asked_drivers() -> set[str]:
    return {name for name, driver in drivers().items() if isinstance(driver, AnswersMixin)}


def _count() -> None:
    """In one statement, so that two who count at once count the time once."""
    seen = {"ended_at__isnull": True, "seen_at__gte": OuterRef("listened_at")}
    # The attempt of a gang speaks for the node of rank 0 alone where its other members cannot be seen.
    work = Attempt.objects.filter(node=OuterRef("pk"), members__isnull=True, **seen)
    members = Member.objects.filter(node=OuterRef("pk"), **seen)
    # Of the nodes of a cluster its API server tells: while that is silent, nobody listens.
    unheard = Node.objects.filter(pk=OuterRef("pk"), cluster__zone__kubernetes__silent_since__isnull=False)
    heard = Q(last_seen_at__gte=F("listened_at")) | Exists(work.order_by()) | Exists(members.order_by())
    heard |= Q(Exists(unheard.order_by()))
    passed = ExpressionWrapper(Now() - F("listened_at"), output_field=DurationField())
    losable_nodes().update(
        silent_for=Case(
            When(Q(listened_at__isnull=True) | Q(listened_at__lt=Now() - PAUSE) | heard, then=Value(NOTHING)),
            default=F("silent_for") + Greatest(passed, Value(NOTHING)),
        ),
        listened_at=Now(),
    )


def _is_own_fault(silent: Sequence[Node]) -> bool:
    """Whether no joined machine at all is heard: then an operator decides, who can see which side is cut off."""
    asked = _asked_drivers()
    joined = losable_nodes().filter(driver__in=asked, lost_at__isnull=True).count()
    quiet = sum(node.driver in asked for node in silent)
    if joined < FEWEST_FOR_OWN_FAULT or quiet < joined:
        return False
    log.warning("all %s machines are silent: nothing is declared lost, since the network may be the platform's", joined)
    return True


def _declare(actor: Actor, node: Node, limit: timedelta) -> bool:
    driver = driver_named(node.driver)
    if isinstance(driver, AnswersMixin) and driver.answers(node.name):  # it can be asked, though it does not report
        Node.objects.filter(pk=node.pk).update(silent_for=NOTHING)
        return False
    return lost.declare_silent(actor, node_id=node.pk, limit=limit)
