"""Work that a machine reports and nobody accounts for: shown to operators, stopped when they say so."""

from uuid import UUID

from django.db import transaction
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

GRACE_S = 20.0


def note(node: Node, living: set[UUID]) -> int:
    """Keep what the node reports beyond its live attempts; what it reports no more is forgotten."""
    accounted = Attempt.objects.filter(pk__in=living, node=node, ended_at__isnull=True).values_list("pk", flat=True)
    stray = living - set(accounted)
    Stray.objects.filter(node=node).exclude(ref__in=stray).delete()
    Stray.objects.filter(node=node, ref__in=stray).update(last_seen_at=Now())
    Stray.objects.bulk_create([Stray(node=node, ref=ref) for ref in stray], ignore_conflicts=True)
    return len(stray)


def stop(actor: Actor, *, node_id: UUID, ref: UUID) -> None:
    """Stop one, as an operator confirms. Work that an attempt accounts for is never stopped this way."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        stray = Stray.objects.filter(node=node, ref=ref).first()
        if stray is None or Attempt.objects.filter(pk=ref, ended_at__isnull=True).exists():
            raise NotFound
        stray.confirmed_by = actor.label[:200]
        stray.save(update_fields=["confirmed_by"])
        record(actor, action="node.stray_stopped", target=target(node), after={"ref": str(ref)})
    try:
        driver_named(node.driver).stop(Handle(node.driver, node.name, str(ref)), GRACE_S)
    except DriverError as error:
        raise Unavailable(_("The node does not answer."), hint=_("Try again later.")) from error
