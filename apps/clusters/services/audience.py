"""Reserving a logical cluster, and giving it to organisations. Running work is left alone whatever changes."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters.models import ClusterGrant, LogicalCluster
from apps.clusters.services.zones import cluster_target, locked_cluster
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission
from apps.tenants.models import Organisation


def reserve_cluster(actor: Actor, *, cluster_id: UUID, reserved: bool) -> LogicalCluster:
    """From now on only organisations that it is given to start anything there, or everybody again."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        cluster = locked_cluster(cluster_id)
        if cluster.reserved == reserved:
            return cluster
        cluster.reserved = reserved
        cluster.save(update_fields=["reserved"])
        before, after = {"reserved": not reserved}, {"reserved": reserved}
        record(actor, action="cluster.reserved", target=cluster_target(cluster), before=before, after=after)
    return cluster


def give_cluster(actor: Actor, *, cluster_id: UUID, organisation_id: UUID) -> Organisation:
    """Let the organisation use a reserved cluster. Repeated, it changes nothing; Conflict while it is open to all."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        cluster, organisation = locked_cluster(cluster_id), _organisation(organisation_id)
        if not cluster.reserved:
            raise Conflict(_("This cluster is open to every organisation."), hint=_("Reserve it first."))
        _grant, made = ClusterGrant.objects.get_or_create(cluster=cluster, organisation=organisation)
        if made:
            after = {"organisation": organisation.name}
            record(actor, action="cluster.given", target=cluster_target(cluster), after=after)
    return organisation


def withdraw_cluster(actor: Actor, *, cluster_id: UUID, organisation_id: UUID) -> Organisation:
    """End the organisation's right. What it runs there goes on until it ends; nothing new of it starts there."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        cluster, organisation = locked_cluster(cluster_id), _organisation(organisation_id)
        ended, _by_model = ClusterGrant.objects.filter(cluster=cluster, organisation=organisation).delete()
        if not ended:
            raise NotFound
        before = {"organisation": organisation.name}
        record(actor, action="cluster.withdrawn", target=cluster_target(cluster), before=before)
    return organisation


def _organisation(organisation_id: UUID) -> Organisation:
    found: Organisation | None = Organisation.objects.filter(pk=organisation_id).first()
    if found is None:
        raise NotFound
    return found
