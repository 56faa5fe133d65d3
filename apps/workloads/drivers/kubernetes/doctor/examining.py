"""One examination of a cluster, from its first answer to the last probe removed."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from kubernetes.client import ApiException

from apps.workloads.drivers.errors import CannotSee, now_or_later
from apps.workloads.drivers.kubernetes.cluster import TIMEOUT_S, Cluster, asking, reason
from apps.workloads.drivers.kubernetes.collection import pages
from apps.workloads.drivers.kubernetes.doctor import proving, reading
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.drivers.kubernetes.doctor.probing import MOST_AT_ONCE, MOST_NODES, Probes, probing, remove_pod
from apps.workloads.drivers.kubernetes.inventory import SeenNode, read_node

Report = Callable[[Check], None]
MOST_WANTED = 256
"""Of nodes that wait for a proof, in one examination; the next one goes on."""


def examine(cluster: Cluster, registry: str, report: Report, wanted: Collection[str] = ()) -> Iterator[Finding]:
    """`registry`: host of the platform's own; empty: none. `report`: what is looked at now, again and again; what it
    raises ends the examination, with nothing left on the cluster. `wanted`: names of nodes to be tried before others.
    """
    report(Check.ANSWER)
    try:
        with asking(), now_or_later():
            found, version = reading.answer(cluster)
    except CannotSee as error:
        yield Finding(Check.ANSWER, Level.FAIL, "silent", {"said": error.said.as_json()})
        return
    yield found
    nodes: list[SeenNode] = []
    may_probe = False
    for check, look in (
        (Check.PERMISSIONS, lambda: reading.permissions(cluster)),
        (Check.NODES, lambda: reading.ready_nodes(_listed(cluster, nodes))),
        (Check.VERSION, lambda: reading.versions(version, nodes)),
        (Check.CARDS, lambda: reading.cards(nodes, _slices(cluster))),
        (Check.STORAGE_CLASSES, lambda: reading.storage_classes(cluster)),
    ):
        report(check)
        result = _guarded(check, look)
        may_probe = may_probe or (check is Check.PERMISSIONS and result.level in (Level.OK, Level.WARN))
        yield result
    ready = [node.name for node in nodes if node.ready and not node.cordoned]
    if may_probe and ready:
        first = sorted(ready, key=lambda name: name not in wanted)
        further = [name for name in first[MOST_NODES:MOST_WANTED] if name in wanted]
        yield from _probed(cluster, first[:MOST_NODES], further, registry, report)


def _listed(cluster: Cluster, nodes: list[SeenNode]) -> list[SeenNode]:
    nodes += [read_node(each)[1] for items, _version in pages(cluster.core.list_node) for each in items]
    nodes.sort(key=lambda node: node.name)
    return nodes


def _slices(cluster: Cluster) -> Sequence[object]:
    return cluster.resources.list_resource_slice(_request_timeout=TIMEOUT_S).items


def _guarded(check: Check, look: Callable[[], Finding]) -> Finding:
    """What cannot be asked keeps nothing else from being asked."""
    try:
        with asking(), now_or_later():
            return look()
    except CannotSee as error:
        return Finding(check, Level.FAIL, "refused", {"said": error.said.as_json()})
    except ApiException as error:
        return Finding(check, Level.FAIL, "error", {"error": reason(error)})


def _probed(
    cluster: Cluster, nodes: Sequence[str], further: Sequence[str], registry: str, report: Report
) -> Iterator[Finding]:
    """Two on the only node where there is one; a pair is needed. Of `further` ones only what each is like is asked."""
    report(Check.PROBES)
    try:
        with asking(), now_or_later(), probing(cluster) as found:
            others = _tried(found, further, partial(report, Check.PROBES))
            plain = [found.make(node) for node in (nodes if len(nodes) > 1 else [*nodes, *nodes])]
            mapped = found.make(nodes[0], own_users=True)
            found.wait([*plain, mapped], partial(report, Check.PROBES))
            yield proving.started(found, [*plain, *others])
            yield proving.reach(found, [*plain, *others])
            yield proving.files(found, [*plain, *others])
            yield proving.network_policy(found, plain, partial(report, Check.NETWORK_POLICY))
            yield proving.user_namespaces(found, mapped)
            yield proving.clocks(found, plain)
            yield proving.registry(found, nodes[0], registry, partial(report, Check.REGISTRY))
    except CannotSee as error:
        yield Finding(Check.PROBES, Level.FAIL, "refused", {"said": error.said.as_json()})
    except ApiException as error:
        yield Finding(Check.PROBES, Level.FAIL, "error", {"error": reason(error)})


def _tried(found: Probes, nodes: Sequence[str], report: Callable[[], None]) -> list[str]:
    """Names of the probes that these had, some nodes at a time. Raises ApiException, HTTPError."""
    tried: list[str] = []
    for start in range(0, len(nodes), MOST_AT_ONCE):
        group = [found.make(node) for node in nodes[start : start + MOST_AT_ONCE]]
        found.wait(group, report)
        for name in group:
            remove_pod(found, name)
        tried += group
    return tried
