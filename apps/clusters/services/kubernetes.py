"""Zones that are Kubernetes clusters: their rows, and those of their nodes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters.choices import Quarantine
from apps.clusters.discovery import Machine
from apps.clusters.models import KubernetesCluster, LogicalCluster, Node, Zone
from apps.clusters.services.discovery import measured_columns, write_cards, write_sample
from apps.clusters.services.zones import create_zone
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.common.sealing import purpose_for, seal, unseal


@dataclass(frozen=True, slots=True)
class Found:
    """A node as the cluster tells of it. `key`: the cluster's own id of it."""

    key: str
    machine: Machine
    isolation: str
    isolation_reason: str


@dataclass(frozen=True, slots=True)
class NewCluster:
    """As the columns of `KubernetesCluster`. `config`: the contents of a kubeconfig."""

    name: str
    uid: str
    config: Mapping[str, Any]
    image: str
    folder: str
    version: str
    claims_cards: bool
    user_namespaces: bool


def add_kubernetes_zone(actor: Actor, *, new: NewCluster) -> Zone:
    """A zone whose machines are the cluster's. Raises Conflict for one that is a zone already, or a name in use."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        known = KubernetesCluster.objects.filter(uid=new.uid).select_related("zone").first()
        if known is not None:
            raise Conflict(_("This cluster is already the zone %(name)s.") % {"name": known.zone.name})
        zone = create_zone(actor, name=new.name)
        try:
            with transaction.atomic():
                KubernetesCluster.objects.create(
                    zone=zone,
                    uid=new.uid,
                    sealed_config=seal(json.dumps(new.config).encode(), purpose=_purpose(zone.pk)),
                    image=new.image,
                    folder=new.folder,
                    version=new.version,
                    claims_cards=new.claims_cards,
                    user_namespaces=new.user_namespaces,
                )
        except IntegrityError as error:  # somebody else added it a moment ago
            raise Conflict(_("This cluster is already a zone.")) from error
        target = Target("zone", str(zone.pk), zone.name)
        record(actor, action="zone.cluster", target=target, after={"version": new.version, "image": new.image})
    return zone


def config_of(row: KubernetesCluster) -> dict[str, Any]:
    """The kubeconfig. Raises `sealing.Unreadable`."""
    found: dict[str, Any] = json.loads(unseal(bytes(row.sealed_config), purpose=_purpose(row.zone_id)))
    return found


def write_nodes(row: KubernetesCluster, driver: str, found: Sequence[Found]) -> list[Node]:
    """Write the nodes that the cluster has told of. One that it tells of no more keeps its row, and falls silent.

    A new one takes no work until a check-up has proved that work can run there.
    """
    with transaction.atomic():
        first = LogicalCluster.objects.filter(zone_id=row.zone_id).order_by("name").first()
        if first is None:
            return []
        written = [_write(first, driver, each) for each in found]
        KubernetesCluster.objects.filter(pk=row.pk).update(answered_at=Now(), silent_since=None, trouble="")
    return written


def _write(cluster: LogicalCluster, driver: str, found: Found) -> Node:
    columns = measured_columns(found.machine, found.isolation, found.isolation_reason)
    columns["address"] = found.machine.name  # what the cluster calls it, whatever it is named here
    known = Node.objects.filter(driver=driver, machine_id=found.key).first()
    if known is None:
        taken = Node.objects.filter(name=found.machine.name).exists()
        name = f"{cluster.zone.name}-{found.machine.name}"[:80] if taken else found.machine.name
        unproved = {"quarantine": Quarantine.UNPROVED, "quarantine_changed_at": Now()}
        known = Node.objects.create(
            cluster=cluster, driver=driver, machine_id=found.key, name=name, **unproved, **columns
        )
    else:
        Node.objects.filter(pk=known.pk).update(**columns)
    write_cards(known, found.machine)
    write_sample(known, found.machine)
    return known


def say_silent(row: KubernetesCluster, trouble: str) -> None:
    """It did not answer. Nothing that runs there is judged by that."""
    KubernetesCluster.objects.filter(pk=row.pk, silent_since=None).update(silent_since=Now())
    KubernetesCluster.objects.filter(pk=row.pk).update(trouble=trouble[:400])


def _purpose(zone_id: UUID) -> str:
    return purpose_for("clusters_kubernetescluster", zone_id, "sealed_config")
