"""Whether nodes reach where software comes from: asked when they start, when the settings change, and hourly."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connections
from django.utils.dateparse import parse_datetime

from apps.clusters import selectors as clusters
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.workloads import software_sources
from apps.workloads.drivers.base import DriverError, SoftwareSources
from apps.workloads.drivers.capabilities import Probe, SourcesMixin
from apps.workloads.nodes import driver_named, is_own_machine

AGAIN, AGAIN_AFTER_FAILURE = timedelta(hours=1), timedelta(minutes=5)
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Finding:
    """What a node said when it was last asked. `digest`: of the settings of then, and of how often it had joined."""

    at: datetime
    digest: str
    probes: tuple[Probe, ...]

    @property
    def failures(self) -> tuple[Probe, ...]:
        return tuple(each for each in self.probes if each.said or each.refused)


def finding(node: Node) -> Finding | None:
    """None where it was not asked yet, or cannot say."""
    kept = node.software_sources
    try:
        at = parse_datetime(kept["at"])
        probes = tuple(map(Probe.from_json, kept["probes"]))
        return Finding(at, str(kept["digest"]), probes) if at else None
    except (KeyError, TypeError, ValueError):
        return None


def probe_due(actor: Actor, *, starting: bool = False) -> int:
    """Ask the nodes that are due; returns how many answered. `starting`: the platform's own machine is due."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    sources, now, answered = software_sources.chosen(), db_now(), 0
    nodes = Node.objects.exclude(cluster__zone__simulated=True).filter(lost_at__isnull=True, silent_since__isnull=True)
    due = [node for node in nodes if is_due(finding(node), _digest(node, sources), now) or _starts(node, starting)]
    for node, probes in _ask_all(actor, due, sources):
        kept = {"at": now.isoformat(), "digest": _digest(node, sources), "probes": [each.as_json() for each in probes]}
        answered += Node.objects.filter(pk=node.pk).update(software_sources=kept)
    return answered


def is_due(last: Finding | None, digest: str, now: datetime) -> bool:
    """A failure is asked about again soon, so that the page says when it is mended."""
    if last is None or last.digest != digest:
        return True
    return now - last.at >= (AGAIN_AFTER_FAILURE if last.failures else AGAIN)


def _starts(node: Node, starting: bool) -> bool:
    return starting and is_own_machine(node)


def _digest(node: Node, sources: SoftwareSources) -> str:
    return hashlib.sha256(json.dumps([node.joins, asdict(sources)]).encode()).hexdigest()[:16]


def _ask_all(actor: Actor, nodes: Sequence[Node], sources: SoftwareSources) -> Iterator[tuple[Node, list[Probe]]]:
    """Those that answer, in the order in which they do."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sources") as pool:
        asked = {pool.submit(_ask, actor, node, sources): node for node in nodes}
        for answered in as_completed(asked):
            probes = answered.result()
            if probes is not None:
                yield asked[answered], probes


def _ask(actor: Actor, node: Node, sources: SoftwareSources) -> list[Probe] | None:
    """Runs in a thread of its own; None for a node that does not answer, or knows nothing of the question."""
    driver = driver_named(node.driver)
    if not isinstance(driver, SourcesMixin):
        return None
    try:
        with acting(actor):
            return driver.probe_sources(node.name, sources)
    except DriverError:
        return None
    finally:
        connections.close_all()  # a driver may have read the address of its node


def ask_again(actor: Actor, *, node_id: UUID) -> Node:
    """Within a minute, whatever was found last. Raises `NotFound`."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    node = clusters.node(actor, node_id)
    node.software_sources = {}
    node.save(update_fields=["software_sources"])
    return node
