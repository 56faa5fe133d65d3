"""From a node's row to the driver that runs work on it."""

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
from apps.workloads.drivers.local.accounts import uid_of
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.environment import EGRESS_SOCKET
from apps.workloads.drivers.local.mounting import egress_folder
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
    return RemoteDriver(_peer, _uid_of)


def _peer(name: str) -> Peer:
    node: Node | None = Node.objects.filter(name=name, driver="remote").first()
    secret = clusters.secret_of(node) if node else None
    if node is None or secret is None:
        raise CannotSee(Said(Code.NODE_UNKNOWN, {"name": name}))
    return Peer(str(node.pk), node.address, secret, node.certificate)


def _uid_of(tenant_id: UUID) -> int | None:
    """The user id of a tenant's work on every machine, since all share one file system; None without such ids."""
    return uid_of(tenant_id, Path(settings.PLSTACK_HOME) / "uids.json") if os.geteuid() == 0 else None


def driver_named(name: str) -> Driver:
    """The driver of a node's `driver` column or a handle's `driver` field; KeyError for an unknown one."""
    return _DRIVERS[name]()


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


def egress_socket() -> Path:
    """Where the proxy that leads workloads out (`Spec.egress`) has to listen, open to every user id (0666).

    Sandboxes see its folder and nothing else of the platform's, so nothing else may ever lie in it.
    """
    return egress_folder(Path(settings.PLSTACK_HOME)) / EGRESS_SOCKET
