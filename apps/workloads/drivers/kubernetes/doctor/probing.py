"""Probes on a cluster: made, asked over the network as shims are, and removed again."""

import json
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from kubernetes.client import ApiException

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes import tenant as tenants
from apps.workloads.drivers.kubernetes.cluster import MISSING, TIMEOUT_S, Cluster
from apps.workloads.drivers.kubernetes.doctor import probe as probes
from apps.workloads.drivers.kubernetes.doctor.probe import ALLOWED, Probe
from apps.workloads.drivers.kubernetes.observing import NOT_CREATED, NOT_PULLED, Container, Pod, State, read
from apps.workloads.drivers.local.linux import remove_tree

NOBODY = UUID(int=0)
START_S, AGAIN_S = 75.0, 0.5
CONNECT_S = 3.0
MOST_NODES = 4
MOST_AT_ONCE = 32
"""Of nodes that wait for a proof, beside those: each has one small pod for some seconds."""


@dataclass
class Probes:
    """Those of one examination. `told`: what each that answered said, by its name. `pods`: all, as last seen."""

    cluster: Cluster
    word: str = field(default_factory=lambda: secrets.token_hex(16))
    made: list[Probe] = field(default_factory=list)
    pods: dict[str, Pod] = field(default_factory=dict)
    told: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def tenant(self) -> UUID:
        """An organisation of nobody's: probes have the very rules that work has."""
        return uuid5(NOBODY, f"probes {self.cluster.platform}")

    @property
    def space(self) -> str:
        return names.namespace(self.cluster, self.tenant)

    @property
    def group(self) -> UUID:
        return uuid5(self.tenant, self.word)

    @property
    def folder(self) -> Path:
        source = self.cluster.volumes[names.CLAIM]
        return source.root / source.own / self.tenant.hex / "probes"

    @property
    def subfolder(self) -> str:
        return f"{self.cluster.volumes[names.CLAIM].own}/{self.tenant.hex}/probes".lstrip("/")

    def make(self, node: str, *, own_users: bool = False) -> str:
        """Raises ApiException, HTTPError."""
        name = f"probe-{self.word[:8]}-{len(self.made)}"
        probe = Probe(name, node, self.subfolder, own_users)
        labels = names.labels(self.cluster, self.tenant) | {names.GANG: self.group.hex}
        self.cluster.core.create_namespaced_pod(
            self.space, probes.manifest(self.cluster, probe, self.word, labels), _request_timeout=TIMEOUT_S
        )
        self.made.append(probe)
        return name

    def node_of(self, name: str) -> str:
        """Where the probe was to be; the cluster tells of a node only once it has let the pod onto it."""
        return next((each.node for each in self.made if each.name == name), "") or self.pods[name].node

    def look(self, name: str) -> Pod:
        """Raises ApiException, HTTPError."""
        fetch: Callable[..., Any] = self.cluster.core.read_namespaced_pod
        raw = fetch(name, self.space, _preload_content=False, _request_timeout=TIMEOUT_S)
        found = self.pods[name] = read(json.loads(raw.data))
        return found

    def ask(self, name: str, call: Sequence[Any] = (), port: int = ALLOWED) -> dict[str, Any] | None:
        """None: it cannot be reached at that port."""
        pod = self.pods.get(name)
        if pod is None or not pod.address:
            return None
        try:
            with socket.create_connection((pod.address, port), CONNECT_S) as stream:
                stream.settimeout(2 * CONNECT_S)
                began = time.time()
                stream.sendall(json.dumps({"word": self.word, "call": list(call)}).encode() + b"\n")
                told: dict[str, Any] = json.loads(stream.makefile().readline() or "null") or {}
                return told | {"asked_at": (began + time.time()) / 2} if told else None
        except (OSError, ValueError):
            return None

    def wait(self, chosen: Sequence[str], report: Callable[[], None]) -> None:
        """Until each has answered, cannot start, or the time is over. Raises ApiException, HTTPError."""
        end = time.monotonic() + START_S
        left = list(chosen)
        while left and time.monotonic() < end:
            report()
            for name in list(left):
                pod = self.look(name)
                told = self.ask(name) if started(pod) else None
                if told is not None:
                    self.told[name] = told
                if told is not None or trouble(pod):
                    left.remove(name)
            time.sleep(AGAIN_S)


def started(pod: Pod) -> bool:
    container = _only(pod)
    return container is not None and container.state is State.RUNNING


def trouble(pod: Pod) -> str:
    """Why it will not start; empty while it may."""
    container = _only(pod)
    if container is not None and container.state is State.WAITING and container.reason in NOT_PULLED | NOT_CREATED:
        return container.message or container.reason
    if container is not None and container.state is State.TERMINATED:
        return container.message or container.reason or pod.phase
    if pod.phase == "Failed":
        return pod.message or pod.reason or pod.phase
    return ""


def _only(pod: Pod) -> Container | None:
    return next(iter(pod.containers), None)


@contextmanager
def probing(cluster: Cluster) -> Iterator[Probes]:
    """With all that probes need; nothing but their namespace is left. Raises OSError, ApiException, HTTPError."""
    found = Probes(cluster)
    tenants.provide(cluster, found.tenant)
    found.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    found.folder.chmod(0o1777)  # the probes' user is nobody's that the platform knows
    try:
        yield found
    finally:
        for each in found.made:
            remove_pod(found, each.name)
        with suppress(ApiException):
            cluster.networking.delete_namespaced_network_policy(names.service(found.group), found.space)
        with suppress(OSError):
            remove_tree(found.folder)


def remove_pod(found: Probes, name: str) -> None:
    try:
        found.cluster.core.delete_namespaced_pod(name, found.space, grace_period_seconds=0, _request_timeout=TIMEOUT_S)
    except ApiException as error:
        if error.status != MISSING:
            raise
