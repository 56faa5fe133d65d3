"""The remote driver: the local driver of another machine, behind its agent."""

import hashlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

from apps.workloads.drivers import fencing
from apps.workloads.drivers.base import (
    CannotSee,
    Handle,
    Isolation,
    LaunchRequest,
    LogChunk,
    Observation,
    Reference,
    SoftwareSources,
    Usage,
)
from apps.workloads.drivers.capabilities import Notice, Probe
from apps.workloads.drivers.channel.execution import RemoteExec
from apps.workloads.drivers.channel.forwarding import Forwards
from apps.workloads.drivers.remote import client, codec, envelope
from apps.workloads.drivers.remote.client import Peer
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream

NAME = "remote"
# The first launch on a machine may have to wait for its shim.
LAUNCH_S = 25.0
PROBE_S = 5.0


class RemoteDriver:
    """Implements `Driver` and the mixins of metrics, isolation, cleanup, inventory, gangs, notices, modes, sources and
    fencing.

    `lookup`: the agent of the node of this name; raises CannotSee for one that is not known. `uid_of`: the tenant's
    user id on every machine, because they share one file system; None where the platform gives tenants none. `data`:
    root of that file system, where fences stand; None where nothing is shared.
    """

    name = NAME

    def __init__(
        self,
        lookup: Callable[[str], Peer],
        uid_of: Callable[[UUID], int | None],
        data: Callable[[], Path] | None = None,
    ) -> None:
        self._lookup = lookup
        self._uid_of = uid_of
        self._data = data
        self._forwards = Forwards()

    def launch(self, request: LaunchRequest) -> Handle:
        peer = self._lookup(request.node)
        payload: codec.Json = {"request": codec.request_out(request), "uid": self._uid_of(request.tenant_id)}
        if request.secrets:
            payload["secrets"] = envelope.closed(peer.secret, request)
        client.call(peer, "launch", payload, LAUNCH_S)
        return Handle(NAME, request.node, str(request.attempt_id))

    def observe(self, handle: Handle) -> Observation:
        with _sensible():
            return codec.observation_in(self._ask(handle, "observe")["seen"])

    def stop(self, handle: Handle, grace_s: float) -> None:
        self._ask(handle, "stop", grace_s=grace_s)

    def release(self, handle: Handle) -> None:
        self._ask(handle, "release")

    def tell(self, handle: Handle, notice: Notice | None) -> None:
        self._ask(handle, "tell", notice=asdict(notice) if notice else None)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        with _sensible():
            return codec.chunk_in(self._ask(handle, "logs", offset=offset, limit=limit)["chunk"])

    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        with _sensible():
            return codec.usages_in(self._ask(handle, "metrics", since_s=since_s)["samples"])

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        payload = {"ref": handle.ref, "argv": list(argv), "tty": tty, "env": dict(env or {})}
        return RemoteExec(client.upgrade(self._lookup(handle.node), "exec", payload), tty)

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        self._ask(handle, "endpoint", port=port)
        name = hashlib.sha256(f"{handle.node}/{handle.ref}/{port}".encode()).hexdigest()[:24]
        return Endpoint(socket_path=str(self._forwards.path(name, partial(self._connect, handle, port))))

    def _connect(self, handle: Handle, port: int) -> socket.socket:
        return client.upgrade(self._lookup(handle.node), "connect", {"ref": handle.ref, "port": port})

    def forget(self, handle: Handle) -> None:
        self._ask(handle, "forget")

    def set_gpu_mode(self, node: str, uuid: str, mode: str) -> None:
        client.call(self._lookup(node), "mode", {"uuid": uuid, "mode": mode}, LAUNCH_S)

    def isolation(self, node: str) -> Isolation:
        with _sensible():
            return codec.isolation_in(client.call(self._lookup(node), "isolation", {}))

    def probe_sources(self, node: str, sources: SoftwareSources) -> list[Probe]:
        with _sensible():
            told = client.call(self._lookup(node), "sources", {"sources": asdict(sources)}, LAUNCH_S)
            return [Probe.from_json(each) for each in told["probes"]]

    def known(self, node: str) -> list[str]:
        with _sensible():
            return [str(ref) for ref in client.call(self._lookup(node), "known", {})["refs"]]

    def has_reference(self, image: Reference) -> bool:
        """Each machine has its own, and none is asked: a start may have to fetch it."""
        return False

    @property
    def fenced_within(self) -> timedelta:
        return fencing.FENCED_WITHIN

    def fence(self, ref: str) -> None:
        """On the shared storage, where the attempt's shim looks: this needs neither the agent nor the network."""
        if self._data is not None:
            fencing.put_up(self._data(), ref)

    def unfence(self, ref: str) -> None:
        if self._data is not None:
            fencing.remove(self._data(), ref)

    def answers(self, node: str) -> bool:
        try:
            client.call(self._lookup(node), "known", {}, PROBE_S)
        except CannotSee:
            return False
        return True

    def _ask(self, handle: Handle, verb: str, **payload: object) -> codec.Json:
        return client.call(self._lookup(handle.node), verb, {"ref": handle.ref, **payload})


@contextmanager
def _sensible() -> Iterator[None]:
    """An answer that cannot be read says nothing about the attempt."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise CannotSee(Said(Code.NODE_UNINTELLIGIBLE, {"error": str(error)})) from error
