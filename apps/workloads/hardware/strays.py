"""Work that a machine reports and nobody accounts for: shown to operators, stopped when they say so."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters.models import Node, Stray
from apps.clusters.services import locked_node, target
from apps.common.actor import Actor
from apps.common.errors import NotFound, Unavailable
from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.models import Attempt
from apps.workloads.nodes import driver_named
from apps.workloads.programs import attempts_by_ref, with_program_on

GRACE_S = 20.0


def record_strays(node: Node, living: set[UUID]) -> int:
    """Keep what the node reports beyond its live attempts; what it reports no more is forgotten."""
    stray = living - _accounted(node, living)
    Stray.objects.filter(node=node).exclude(ref__in=stray).delete()
    Stray.objects.filter(node=node, ref__in=stray).update(last_seen_at=Now())
    Stray.objects.bulk_create([Stray(node=node, ref=ref) for ref in stray], ignore_conflicts=True)
    return len(stray)


def _live_with(refs: Collection[UUID]) -> Q:
    """Live attempts of which one of these is a program."""
    return Q(pk__in=attempts_by_ref(refs).values(), ended_at__isnull=True)


def _accounted(node: Node, living: set[UUID]) -> set[UUID]:
    """What live attempts have on the node."""
    attempts = attempts_by_ref(living)
    live = Attempt.objects.filter(with_program_on(node.pk), pk__in=attempts.values(), ended_at__isnull=True)
    alive = set(live.values_list("pk", flat=True))
    return {ref for ref, attempt in attempts.items() if attempt in alive}


def stop_stray(actor: Actor, *, node_id: UUID, ref: UUID) -> None:
    """Stop one, as an operator confirms. Work that an attempt accounts for is never stopped this way."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        stray = Stray.objects.filter(node=node, ref=ref).first()
        if stray is None or Attempt.objects.filter(_live_with([ref])).exists():
            raise NotFound
        stray.confirmed_by = actor.label[:200]
        stray.save(update_fields=["confirmed_by"])
        record(actor, action="node.stray_stopped", target=target(node), after={"ref": str(ref)})
    try:
        driver_named(node.driver).stop(Handle(node.driver, node.name, str(ref)), GRACE_S)
    except DriverError as error:
        raise Unavailable(_("The node does not answer."), hint=_("Try again later.")) from error
