"""Pods as the API tells of them, and the channels into them."""

import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from uuid import UUID

from kubernetes import client
from kubernetes.client import ApiException

from apps.workloads.drivers.base import Observation
from apps.workloads.drivers.channel.client import Client
from apps.workloads.drivers.errors import CannotSee, DriverError
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import MISSING, TIMEOUT_S, Cluster, asking
from apps.workloads.drivers.kubernetes.collection import pages
from apps.workloads.drivers.kubernetes.observing import Pod, read
from apps.workloads.drivers.kubernetes.pod import places
from apps.workloads.drivers.kubernetes.views import Changed, Views
from apps.workloads.drivers.said import Code, Said

CONNECT_S, ANSWER_S, REST_S = 5.0, 15.0, 5.0
MAX_CHANNELS = 512


class Pods:
    """For use by several threads."""

    def __init__(self, changed: Changed = lambda _refs: None) -> None:
        self.views = Views(changed)
        self._channels: OrderedDict[str, tuple[str, Client]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, cluster: Cluster, ref: str) -> Pod | None:
        """The attempt's pod, in whichever namespace. None: the API says that there is none. Raises CannotSee."""
        chosen = names.selector({names.ATTEMPT: ref, names.PLATFORM: names.short(cluster.platform)})
        found = _listed(partial(cluster.core.list_pod_for_all_namespaces, label_selector=chosen))
        return found[0] if found else None

    def see(self, cluster: Cluster, ref: str) -> Pod | None:
        """The same where a few seconds do not matter: as the view has it, which costs the API nothing."""
        return self.views.pod(cluster, ref) or self.find(cluster, ref)

    def gang(self, cluster: Cluster, pod: Pod) -> list[Pod]:
        """All members of the pod's gang that there are, by rank. Raises CannotSee."""
        chosen = names.selector({names.GANG: pod.gang})
        found = _listed(partial(cluster.core.list_namespaced_pod, pod.namespace, label_selector=chosen))
        return sorted(found, key=lambda each: each.rank)

    def ask_last_known(self, ref: str) -> Observation | None:
        """What the shim says that was there when it was last asked, whatever the API says; None if it is silent."""
        with self._lock:
            _address, kept = self._channels.get(ref, ("", None))
        if kept is None:
            return None
        try:
            return kept.observe()
        except DriverError:
            return None

    def delete(self, cluster: Cluster, pod: Pod, grace_s: int | None = None) -> None:
        """No effect if it is gone. Raises ApiException, HTTPError."""
        body = client.V1DeleteOptions(grace_period_seconds=grace_s, preconditions=client.V1Preconditions(uid=pod.uid))
        _gone_or(
            partial(
                cluster.core.delete_namespaced_pod,
                pod.name, pod.namespace, body=body, _request_timeout=TIMEOUT_S,
            )
        )  # fmt: skip

    def remove(self, cluster: Cluster, pod: Pod) -> None:
        """The pod and what was made for it; of a gang's last one also what joined them. Raises ApiException."""
        ref = names.ref_of(pod.name)
        with self._lock:
            _address, kept = self._channels.pop(ref, ("", None))
        if kept is not None:
            kept.close()
        self.delete(cluster, pod, grace_s=0)
        _gone_or(partial(cluster.core.delete_namespaced_secret, names.given(ref), pod.namespace))
        if pod.has_claims:
            _gone_or(partial(cluster.resources.delete_namespaced_resource_claim, pod.name, pod.namespace))
        if pod.gang and not [each for each in self.gang(cluster, pod) if each.uid != pod.uid]:
            service = names.service(UUID(pod.gang))
            _gone_or(partial(cluster.core.delete_namespaced_service, service, pod.namespace))
            _gone_or(partial(cluster.networking.delete_namespaced_network_policy, service, pod.namespace))

    def client(self, cluster: Cluster, ref: str, pod: Pod | None) -> Client:
        """Of the pod's shim. Raises CannotSee for one without an address."""
        if pod is None or not pod.address:
            raise CannotSee(Said(Code.POD_STARTING))
        with self._lock:
            known = self._channels.get(ref)
            if known is not None and known[0] == pod.address:
                return known[1]
            made = Client(partial(dial, pod.address), names.key(cluster, ref), ANSWER_S, REST_S)
            self._channels[ref] = (pod.address, made)
            oldest = self._channels.popitem(last=False)[1][1] if len(self._channels) > MAX_CHANNELS else None
        for gone in (oldest, known[1] if known is not None else None):
            if gone is not None:
                gone.close()
        return made


def _listed(fetch: Callable[..., object]) -> list[Pod]:
    with asking():
        return [read(each) for items, _version in pages(fetch) for each in items]


def dial(address: str) -> socket.socket:
    """Straight to the pod. Raises OSError."""
    return socket.create_connection((address, places.PORT), CONNECT_S)


def _gone_or(delete: Callable[[], object]) -> None:
    try:
        delete()
    except ApiException as error:
        if error.status != MISSING:
            raise
