"""Whether each machine of a zone has the platform's files from where the zone says, by what it last told of them.

Agents look at every heartbeat, so there is nothing to ask: a mount that is lost or mended shows within seconds.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from apps.clusters.choices import StorageKind
from apps.clusters.models import Node, Zone, ZoneStorage
from apps.clusters.node_storage import NodeStorage, StorageProbe, probe_of, storage_of
from apps.clusters.selectors import UNSEEN_AFTER


class Verdict(StrEnum):
    HERE = "here"
    ELSEWHERE = "elsewhere"  # the platform's files, but mounted from somewhere else than the zone says
    MISSING = "missing"
    UNUSABLE = "unusable"  # they are there, but work could not use them
    SILENT = "silent"  # it has not been heard from, so what it told is old
    UNTOLD = "untold"  # the platform's own machine, or an agent that does not look


@dataclass(frozen=True, slots=True)
class StorageCheck:
    """`command`: what mends it on that machine, as root; "" where nothing has to, or where nobody can say by what."""

    node: Node
    told: NodeStorage
    verdict: Verdict
    command: str
    probe: StorageProbe | None = None


def storage_of_zone(zone: Zone) -> ZoneStorage:
    """What was said of it; not saved where nothing was."""
    found: ZoneStorage | None = ZoneStorage.objects.filter(zone=zone).first()
    return found or ZoneStorage(zone=zone)


def checks(zone: Zone, now: datetime) -> list[StorageCheck]:
    """Of each node of the zone, by name."""
    nodes: Iterable[Node] = Node.objects.filter(cluster__zone=zone).order_by("name")
    storage = storage_of_zone(zone)
    return [_check(node, storage, now - node.last_seen_at > UNSEEN_AFTER) for node in nodes]


def _check(node: Node, storage: ZoneStorage, silent: bool) -> StorageCheck:
    told = storage_of(node)
    found = Verdict.UNTOLD
    if node.storage:
        found = judged(storage, told, silent=silent, probe=probe_of(node))
    return StorageCheck(node, told, found, mending(storage, told) if found is Verdict.MISSING else "", probe_of(node))


def judged(storage: ZoneStorage, told: NodeStorage, *, silent: bool, probe: StorageProbe | None = None) -> Verdict:
    if silent:
        return Verdict.SILENT
    if probe is not None and probe.problem is not None:
        return Verdict.UNUSABLE
    if not told.present:
        return Verdict.MISSING
    if storage.kind != StorageKind.NFS:
        return Verdict.HERE
    same = told.kind.startswith("nfs") and told.source.rstrip("/") == storage.source.rstrip("/")
    return Verdict.HERE if same else Verdict.ELSEWHERE


def mending(storage: ZoneStorage, told: NodeStorage) -> str:
    """The command with which root mounts it there; "" where the zone does not say from where, or the node to where."""
    if storage.kind != StorageKind.NFS or not told.root:
        return ""
    return shlex.join(["mount", "-t", "nfs4", storage.source, told.root])
