"""From a node's row to the driver that runs work on it. The only place that knows which drivers there are."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings

from apps.clusters import services as clusters
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.workloads.drivers.base import CannotSee, Driver
from apps.workloads.drivers.capabilities import EgressMixin, OwnMachineMixin
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote.client import Peer
from apps.workloads.drivers.remote.driver import RemoteDriver
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated.driver import SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grants

MARKER = ".plstack-root"


@cache
def local_driver() -> LocalDriver:
    """One per process: it holds no state but the folder's path."""
    return LocalDriver(Path(settings.PLSTACK_HOME))


@cache
def simulated_driver() -> SimulatedDriver:
    """Beside the local driver, whose runtimes and run directories it shares."""
    grants = Grants(Path(settings.PLSTACK_HOME) / "simulated")
    return SimulatedDriver(local_driver(), grants, settings.PLSTACK_SIMULATED_PROCESSES, _is_off)


def _is_off(name: str) -> bool:
    return Node.objects.filter(name=name, switched_off=True).exists()


@cache
def remote_driver() -> RemoteDriver:
    """Of every node that joined by token."""
    return RemoteDriver(_peer, lambda tenant: local_driver().uid_of(tenant), data_root)


def _peer(name: str) -> Peer:
    node: Node | None = Node.objects.filter(name=name, driver="remote").first()
    secret = clusters.secret_of(node) if node else None
    if node is None or secret is None:
        raise CannotSee(Said(Code.NODE_UNKNOWN, {"name": name}))
    return Peer(str(node.pk), node.address, secret, node.certificate)


def driver_named(name: str) -> Driver:
    """The driver of a node's `driver` column or a handle's `driver` field; KeyError for an unknown one."""
    return _DRIVERS[name]()


def drivers() -> dict[str, Driver]:
    """All of them by name, to be asked for what they offer (`drivers.capabilities`)."""
    return {name: make() for name, make in _DRIVERS.items()}


def is_own_machine(node: Node) -> bool:
    """Whether the platform itself runs there, and it takes work."""
    driver = driver_named(node.driver)
    return settings.PLSTACK_LOCAL_NODE and isinstance(driver, OwnMachineMixin) and driver.is_own_machine(node.name)


_DRIVERS: dict[str, Callable[[], Driver]] = {
    "local": local_driver,
    "remote": remote_driver,
    "simulated": simulated_driver,
}


def data_root() -> Path:
    """Where the platform keeps people's files; mounts name folders below it."""
    return Path(settings.PLSTACK_HOME) / "data"


def make_token(actor: Actor, *, cluster_id: UUID, uses: int = 1) -> str:
    """A token with which `uses` machines may join within the hour, and what they look for in the shared folder."""
    token = clusters.make_token(actor, cluster_id=cluster_id, uses=uses)
    marker()
    return token


def marker() -> str:
    """What stands in the file that marks the data folder as this installation's; made at the first need."""
    path = data_root() / MARKER
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{MARKER}.{uuid4().hex}")
        draft.write_text(f"{uuid4()}\n")
        draft.chmod(0o644)
        with suppress(FileExistsError):  # another process was first
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()


def marker_seen() -> str:
    """What stands in the file now; "" where it cannot be read. It is not made here: a missing mount is no new start."""
    try:
        return (data_root() / MARKER).read_text().strip()
    except OSError:
        return ""


def egress_sockets() -> list[Path]:
    """Where the proxy that leads workloads out (`Spec.egress`) has to listen."""
    found = {driver.egress_socket() for driver in drivers().values() if isinstance(driver, EgressMixin)}
    return sorted(found)
