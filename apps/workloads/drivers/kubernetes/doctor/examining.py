"""One examination of a cluster, from its first answer to the last probe removed."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kubernetes.client import ApiException

from apps.workloads.drivers.errors import CannotSee, now_or_later
from apps.workloads.drivers.kubernetes.cluster import TIMEOUT_S, Cluster, asking, reason
from apps.workloads.drivers.kubernetes.collection import pages
from apps.workloads.drivers.kubernetes.doctor import proving, reading
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.drivers.kubernetes.doctor.probing import MOST_NODES, probing
from apps.workloads.drivers.kubernetes.inventory import SeenNode, read_node

Report = Callable[[Check], None]


def examine(cluster: Cluster, registry: str, report: Report) -> Iterator[Finding]:
    """`registry`: host of the platform's own; empty: none. `report`: what is looked at now, again and again; what it
    raises ends the examination, with nothing left on the cluster.
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
        yield from _probed(cluster, ready[:MOST_NODES], registry, report)


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


def _probed(cluster: Cluster, nodes: Sequence[str], registry: str, report: Report) -> Iterator[Finding]:
    """Two on the only node where there is one; a pair is needed."""
    report(Check.PROBES)
    try:
        with asking(), now_or_later(), probing(cluster) as found:
            plain = [found.make(node) for node in (nodes if len(nodes) > 1 else [*nodes, *nodes])]
            mapped = found.make(nodes[0], own_users=True)
            found.wait(partial(report, Check.PROBES))
            yield proving.started(found, plain)
            yield proving.reach(found, plain)
            yield proving.files(found, plain)
            yield proving.network_policy(found, plain, partial(report, Check.NETWORK_POLICY))
            yield proving.user_namespaces(found, mapped)
            yield proving.clocks(found, plain)
            yield proving.registry(found, nodes[0], registry, partial(report, Check.REGISTRY))
    except CannotSee as error:
        yield Finding(Check.PROBES, Level.FAIL, "refused", {"said": error.said.as_json()})
    except ApiException as error:
        yield Finding(Check.PROBES, Level.FAIL, "error", {"error": reason(error)})
