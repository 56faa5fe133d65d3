"""Zones and logical clusters: create, rename, and delete them when they are empty."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters.models import LogicalCluster, Node, Zone
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.text import clean_name

NAME_MAX = 60
T = TypeVar("T")


def locked_zone(actor: Actor, zone_id: UUID) -> Zone:
    """The zone's row, locked. Call inside a transaction; raises `NotFound`."""
    found: Zone | None = Zone.objects.select_for_update().filter(pk=zone_id).first()
    if found is None:
        raise NotFound
    return found


def create_zone(actor: Actor, *, name: str) -> Zone:
    """A data centre, with a first logical cluster to put machines into."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    cleaned = _clean(name)
    with transaction.atomic():
        zone: Zone = _unique(lambda: Zone.objects.create(name=cleaned))
        LogicalCluster.objects.create(zone=zone, name="default")
        record(actor, action="zone.created", target=_target(zone), after={"name": cleaned})
    return zone


def rename_zone(actor: Actor, *, zone_id: UUID, name: str) -> Zone:
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    cleaned = _clean(name)
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        before, zone.name = zone.name, cleaned
        _unique(lambda: zone.save(update_fields=["name"]))
        record(actor, action="zone.renamed", target=_target(zone), before={"name": before}, after={"name": cleaned})
    return zone


def set_trusted_network(actor: Actor, *, zone_id: UUID, trusted: bool) -> Zone:
    """Whether gangs may span nodes of the zone over a network that is not encrypted. What runs is left as it is."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        if zone.simulated:
            raise Conflict(_("Nothing has to join simulated nodes."))
        if zone.trusted_network == trusted:
            return zone
        zone.trusted_network = trusted
        zone.save(update_fields=["trusted_network"])
        before, after = {"trusted_network": not trusted}, {"trusted_network": trusted}
        record(actor, action="zone.network", target=_target(zone), before=before, after=after)
    return zone


def delete_zone(actor: Actor, *, zone_id: UUID) -> Zone:
    """Delete an empty zone with its clusters. Raises Conflict while a machine is in it."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        left = Node.objects.filter(cluster__zone=zone).count()
        if left:
            raise Conflict(_("%(count)s nodes are in this zone.") % {"count": left}, hint=_("Remove them first."))
        LogicalCluster.objects.filter(zone=zone).update(removed_at=Now())
        Zone.objects.filter(pk=zone.pk).update(removed_at=Now())
        record(actor, action="zone.deleted", target=_target(zone))
    return zone


def create_cluster(actor: Actor, *, zone_id: UUID, name: str) -> LogicalCluster:
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    cleaned = _clean(name)
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        cluster: LogicalCluster = _unique(lambda: LogicalCluster.objects.create(zone=zone, name=cleaned))
        record(actor, action="cluster.created", target=cluster_target(cluster), after={"name": cleaned})
    return cluster


def rename_cluster(actor: Actor, *, cluster_id: UUID, name: str) -> LogicalCluster:
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    cleaned = _clean(name)
    with transaction.atomic():
        cluster = locked_cluster(cluster_id)
        before, cluster.name = cluster.name, cleaned
        _unique(lambda: cluster.save(update_fields=["name"]))
        target = cluster_target(cluster)
        record(actor, action="cluster.renamed", target=target, before={"name": before}, after={"name": cleaned})
    return cluster


def delete_cluster(actor: Actor, *, cluster_id: UUID) -> LogicalCluster:
    """Delete an empty cluster. Raises Conflict while a machine is in it, and for the last one of a zone."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        cluster = locked_cluster(cluster_id)
        left = Node.objects.filter(cluster=cluster).count()
        if left:
            raise Conflict(
                _("%(count)s nodes are in this cluster.") % {"count": left}, hint=_("Move or remove them first.")
            )
        if not LogicalCluster.objects.filter(zone=cluster.zone_id).exclude(pk=cluster.pk).exists():
            raise Conflict(_("A zone keeps at least one cluster."))
        LogicalCluster.objects.filter(pk=cluster.pk).update(removed_at=Now())
        record(actor, action="cluster.deleted", target=cluster_target(cluster))
    return cluster


def locked_cluster(cluster_id: UUID) -> LogicalCluster:
    """The cluster's row, locked, with its zone. Call inside a transaction; raises `NotFound`."""
    found: LogicalCluster | None = (
        LogicalCluster.objects.select_for_update(of=("self",)).select_related("zone").filter(pk=cluster_id).first()
    )
    if found is None:
        raise NotFound
    return found


def _clean(name: str) -> str:
    cleaned = clean_name(name)
    if not cleaned:
        raise Invalid.field("name", _("Give it a name."))
    if len(cleaned) > NAME_MAX:
        raise Invalid.field("name", _("A name has at most 60 characters."))
    return cleaned


def _unique(write: Callable[[], T]) -> T:
    try:
        with transaction.atomic():
            return write()
    except IntegrityError as error:
        raise Invalid.field("name", _("This name is taken.")) from error


def _target(zone: Zone) -> Target:
    return Target("zone", str(zone.pk), zone.name)


def cluster_target(cluster: LogicalCluster) -> Target:
    return Target("cluster", str(cluster.pk), f"{cluster.zone.name} / {cluster.name}")
