"""Machines that add themselves: tokens, the join, heartbeats."""

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters.choices import NodeStatus
from apps.clusters.discovery import Machine
from apps.clusters.models import JoinToken, LogicalCluster, Node
from apps.clusters.services.discovery import measured_columns, write_cards, write_sample
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.sealing import purpose_for, seal, unseal
from apps.common.text import clean_name

DRIVER = "remote"
VALID = timedelta(hours=1)
MAX_USES = 100
PREFIX = "pln_"


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """What a machine reports when it joins. `certificate`: SHA-256 of its certificate; "" for plain HTTP.

    `gang_network`, `storage`, `storage_probe`, `dataset_cache`, for the columns of the node: what it can do for gangs
    over several machines, how it sees the platform's files, what came of trying them, and its copies of datasets.
    """

    token: str
    name: str
    machine_id: str
    address: str
    certificate: str
    machine: Machine
    isolation: str
    isolation_reason: str
    gang_network: dict[str, Any] = field(default_factory=dict)
    storage: dict[str, Any] = field(default_factory=dict)
    storage_probe: dict[str, Any] = field(default_factory=dict)
    dataset_cache: dict[str, Any] = field(default_factory=dict)


def make_token(actor: Actor, *, cluster_id: UUID, uses: int = 1) -> str:
    """A token with which `uses` machines may join the cluster within the hour; shown once, kept as a digest."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    if not 1 <= uses <= MAX_USES:
        raise Invalid.field("uses", _("Between 1 and 100 machines."))
    with transaction.atomic():
        cluster = LogicalCluster.objects.select_related("zone").filter(pk=cluster_id).first()
        if cluster is None:
            raise NotFound
        if cluster.zone.simulated:
            raise Conflict(_("No machine can join a simulated zone."))
        JoinToken.objects.filter(expires_at__lt=db_now() - VALID).delete()
        token = PREFIX + secrets.token_urlsafe(32)
        row = JoinToken.objects.create(
            cluster=cluster,
            digest=_digest(token),
            uses_left=uses,
            expires_at=db_now() + VALID,
            made_by=actor.label[:200],
        )
        target = Target("cluster", str(cluster.pk), f"{cluster.zone.name} / {cluster.name}")
        record(actor, action="node.token", target=target, after={"uses": uses, "until": row.expires_at.isoformat()})
    return token


def revoke_tokens(actor: Actor, *, cluster_id: UUID) -> int:
    """Revoke all join tokens of the cluster; returns how many were still valid."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    count, _by_model = JoinToken.objects.filter(
        cluster_id=cluster_id, expires_at__gt=db_now(), uses_left__gt=0
    ).delete()
    return count


def join(actor: Actor, *, asked: JoinRequest) -> tuple[Node, bytes]:
    """The node and its new secret. Raises Denied for an invalid token, Conflict for a name that is taken.

    A machine that joins again keeps its node; its former secret becomes invalid.
    """
    _check_address(asked)
    with transaction.atomic():
        token = _use_token(asked.token)
        node = _joined(asked, token.cluster)
        secret = secrets.token_bytes(32)
        node.sealed_secret = seal(secret, purpose=_purpose(node))
        node.joins = F("joins") + 1
        node.save(update_fields=["sealed_secret", "joins"])
        write_cards(node, asked.machine)
        write_sample(node, asked.machine)
        target = Target("node", str(node.pk), node.name)
        record(actor, action="node.joined", target=target, after={"address": asked.address, "by": token.made_by})
    return node, secret


def _use_token(token: str) -> JoinToken:
    """Consume one use of the token in one statement: of two simultaneous machines with one use left, one is refused."""
    good = JoinToken.objects.filter(digest=_digest(token), expires_at__gt=Now(), uses_left__gt=0)
    if not good.update(uses_left=F("uses_left") - 1):
        raise Refusal(_("This token is invalid or no longer valid."), hint=_("Make a new one in the console."))
    return JoinToken.objects.select_related("cluster__zone").get(digest=_digest(token))


class Refusal(Denied):
    """A machine that is not let in; `Denied` with words of its own."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(Permission.PLATFORM_NODES_MANAGE)
        self.message, self.hint = message, hint


def _joined(asked: JoinRequest, cluster: LogicalCluster) -> Node:
    columns = {
        **measured_columns(asked.machine, asked.isolation, asked.isolation_reason),
        "machine_id": asked.machine_id,
        "address": asked.address,
        "certificate": asked.certificate,
        "gang_network": asked.gang_network,
        "storage": asked.storage,
        "storage_probe": asked.storage_probe,
        "dataset_cache": asked.dataset_cache,
    }
    name = clean_name(asked.name)[:80] or asked.machine.name
    known: Node | None = Node.objects.select_for_update().filter(machine_id=asked.machine_id, driver=DRIVER).first()
    if known is not None:
        Node.objects.filter(pk=known.pk).update(**columns)
        known.refresh_from_db()
        return known
    if Node.objects.filter(name=name).exists():
        raise Conflict(
            _("Another node is named %(name)s.") % {"name": name},
            hint=_("Give this one another name with --name, or remove the other one first."),
        )
    return Node.objects.create(cluster=cluster, name=name, driver=DRIVER, status=NodeStatus.READY, **columns)


def _check_address(asked: JoinRequest) -> None:
    url = urlsplit(asked.address)
    if url.scheme not in ("http", "https") or not url.hostname or not url.port:
        raise Invalid.field("address", _("An agent's address looks like http://10.0.0.7:8765."))
    if (url.scheme == "https") != bool(asked.certificate):
        raise Invalid.field("certificate", _("A certificate belongs to an https address, and only to one."))


def record_heartbeat(
    node: Node,
    machine: Machine,
    *,
    isolation: str,
    isolation_reason: str,
    gang_network: dict[str, Any],
    storage: dict[str, Any],
    storage_probe: dict[str, Any],
    dataset_cache: dict[str, Any],
) -> None:
    """Record that the machine is alive, with its measurement and what it can do."""
    of_files = {"storage": storage, "storage_probe": storage_probe, "dataset_cache": dataset_cache}
    told = {"gang_network": gang_network, **of_files}
    columns = {**measured_columns(machine, isolation, isolation_reason), **told}
    with transaction.atomic():
        Node.objects.filter(pk=node.pk).update(**columns)
        node.isolation = isolation
        write_cards(node, machine)
        write_sample(node, machine)


def secret_of(node: Node) -> bytes | None:
    """The secret that node and platform share; None for a node that has left."""
    return None if node.sealed_secret is None else unseal(bytes(node.sealed_secret), purpose=_purpose(node))


def _purpose(node: Node) -> str:
    return purpose_for("clusters_node", node.pk, "sealed_secret")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
