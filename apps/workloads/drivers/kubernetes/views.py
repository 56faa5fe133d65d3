"""What this process knows of the pods and nodes of each cluster, by one watch for each of both."""

import atexit
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from apps.workloads.drivers.capabilities import FoundNode
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import TIMEOUT_S, Cluster
from apps.workloads.drivers.kubernetes.collection import CollectionView, Raw, pages
from apps.workloads.drivers.kubernetes.inventory import SeenNode, Taken, by_node, machines, read_node, taken_by
from apps.workloads.drivers.kubernetes.observing import Pod, read

Changed = Callable[[Iterable[str]], None]
OURS = "ours/"


@dataclass(frozen=True, slots=True)
class ClusterView:
    """`pods`: ours by the attempt's id, all others by their own; of these only what they ask for is kept."""

    cluster: Cluster
    pods: CollectionView[Pod | Taken]
    nodes: CollectionView[SeenNode]

    def keep(self) -> None:
        self.pods.keep()
        self.nodes.keep()

    def machines(self) -> list[FoundNode]:
        """Those that take work; where the view does not know, the API is asked. Raises ApiException, HTTPError."""
        api, platform = self.cluster.core, names.short(self.cluster.platform)
        nodes, pods = self.nodes.all(), self.pods.all()
        if nodes is None:
            nodes = dict(read_node(each) for items, _version in pages(api.list_node) for each in items)
        if pods is None:
            listed = pages(api.list_pod_for_all_namespaces)
            pods = dict(read_pod(platform, each) for items, _version in listed for each in items)
        slices = (
            self.cluster.resources.list_resource_slice(_request_timeout=TIMEOUT_S).items if self.cluster.dra else None
        )
        return machines(nodes.values(), others_by_node(pods.values()), slices)


class Views:
    """One for each cluster that is asked about in this process. `changed`: is told the attempts whose pods changed."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self._views: dict[int, ClusterView] = {}
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)  # threads stay behind, and so does what they were writing
        atexit.register(self.close)

    def of(self, cluster: Cluster) -> ClusterView:
        """Made at the first need; it does nothing before it is told to be kept."""
        with self._lock:
            found = self._views.get(id(cluster))
            if found is None:  # which keeps the cluster, so that no other gets its id
                found = self._views[id(cluster)] = ClusterView(
                    cluster,
                    CollectionView(
                        cluster.core.list_pod_for_all_namespaces,
                        partial(read_pod, names.short(cluster.platform)),
                        self._tell,
                    ),
                    CollectionView(cluster.core.list_node, read_node),
                )
            return found

    def pod(self, cluster: Cluster, ref: str) -> Pod | None:
        """None: not known; whoever has to know asks the API."""
        found = self.of(cluster).pods.get(OURS + ref)
        return found if isinstance(found, Pod) else None

    def close(self) -> None:
        with self._lock:
            views, self._views = list(self._views.values()), {}
        for each in views:
            each.pods.close()
            each.nodes.close()

    def _forget(self) -> None:
        self._views, self._lock = {}, threading.Lock()

    def _tell(self, keys: Iterable[str]) -> None:
        ours = [key.removeprefix(OURS) for key in keys if key.startswith(OURS)]
        if ours:
            self._changed(ours)


def read_pod(platform: str, found: Raw) -> tuple[str, Pod | Taken]:
    """What is kept of a pod, by a key: all that matters of ours, and of others what they hold."""
    labels = found["metadata"].get("labels") or {}
    if labels.get(names.PLATFORM) == platform and names.ATTEMPT in labels:
        return OURS + labels[names.ATTEMPT], read(found)
    if labels.get(names.PLATFORM) == platform:
        return found["metadata"]["uid"], Taken()
    return found["metadata"]["uid"], taken_by(found)


def others_by_node(pods: Iterable[Pod | Taken]) -> dict[str, Taken]:
    return by_node(each for each in pods if isinstance(each, Taken))
