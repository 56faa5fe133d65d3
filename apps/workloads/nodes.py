"""From a node's row to the driver that runs work on it. The only place that knows which drivers there are."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from apps.clusters import services as clusters
from apps.clusters.choices import StorageKind
from apps.clusters.models import KubernetesCluster, Node
from apps.clusters.services import kubernetes as clusters_of_kubernetes
from apps.clusters.storage_checks import storage_of_zone
from apps.common.actor import Actor
from apps.workloads.drivers.base import CannotSee, Driver
from apps.workloads.drivers.capabilities import EgressMixin, OwnMachineMixin
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote.client import Peer
from apps.workloads.drivers.remote.driver import RemoteDriver
from apps.workloads.drivers.request import DATA
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated.driver import SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grants
from apps.workloads.pod_changes import Gathering

if TYPE_CHECKING:
    from apps.workloads.drivers.kubernetes.cluster import Cluster, Place
    from apps.workloads.drivers.kubernetes.driver import KubernetesDriver

MARKER = ".plstack-root"
PODS_FOLDER = ".pods"
KUBERNETES = "apps.workloads.drivers.kubernetes.driver.KubernetesDriver"
CLUSTER = "apps.workloads.drivers.kubernetes.cluster.Cluster"
PLACE = "apps.workloads.drivers.kubernetes.cluster.Place"
VOLUME_SOURCE = "apps.workloads.drivers.kubernetes.cluster.VolumeSource"


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


def has_kubernetes() -> bool:
    """Whether its package, which is an extra, is installed."""
    return find_spec("kubernetes") is not None


@cache
def kubernetes_driver() -> "KubernetesDriver":
    """Of every node of a cluster. Imported at the first need: its package is an extra, and large."""
    uid_of = local_driver().uid_of
    made: KubernetesDriver = import_string(KUBERNETES)(_place, uid_of, Gathering().add, _journals_root)
    return made


def _journals_root() -> Path:
    return data_root() / PODS_FOLDER


def _place(name: str) -> "Place":
    node: Node | None = Node.objects.filter(name=name, driver="kubernetes").select_related("cluster").first()
    rows = KubernetesCluster.objects.select_related("zone")
    row = rows.filter(zone=node.cluster.zone_id).first() if node is not None else None
    if node is None or row is None:
        raise CannotSee(Said(Code.CLUSTER_UNKNOWN, {"name": name}))
    place: Place = import_string(PLACE)(cluster_of(row), node.address)
    return place


def cluster_of(row: KubernetesCluster) -> "Cluster":
    """The connection to it, kept as long as nothing about it changes."""
    storage = storage_of_zone(row.zone)
    source = storage.source if storage.kind == StorageKind.NFS else ""
    return _kept_cluster(row.pk, bytes(row.sealed_config), row.image, row.folder, source, row.domain, row.claims_cards)


@lru_cache(maxsize=64)
def _kept_cluster(
    zone: UUID, _sealed: bytes, image: str, folder: str, nfs: str, domain: str, claims_cards: bool
) -> "Cluster":
    config = clusters_of_kubernetes.config_of(KubernetesCluster.objects.get(pk=zone))
    return cluster_connection(config, image, folder, nfs=nfs, domain=domain, dra=claims_cards)


def cluster_connection(config: Mapping[str, Any], image: str, folder: str, nfs: str = "", **about: Any) -> "Cluster":
    """One that need not be a zone yet. `folder`: where its nodes have the platform's files, unless it is `nfs`."""
    server, _colon, path = nfs.rpartition(":")
    where = {"nfs": {"server": server, "path": path}} if nfs else {"hostPath": {"path": folder or str(data_root())}}
    platform = marker()
    make: Callable[..., Cluster] = import_string(CLUSTER)
    volumes = {DATA: import_string(VOLUME_SOURCE)(where, PODS_FOLDER, data_root())}
    secret = salted_hmac("plstack.kubernetes", platform, algorithm="sha256").digest()
    return make(platform=platform, kubeconfig=config, image=image, volumes=volumes, secret=secret, **about)


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
    """By name, to be asked for what they offer (`drivers.capabilities`) of machines that are the platform's own.

    Not that of clusters: none of it is theirs, and its package would be loaded into every process.
    """
    return {name: make() for name, make in _DRIVERS.items() if make is not kubernetes_driver}


def is_own_machine(node: Node) -> bool:
    """Whether the platform itself runs there, and it takes work."""
    driver = driver_named(node.driver)
    return settings.PLSTACK_LOCAL_NODE and isinstance(driver, OwnMachineMixin) and driver.is_own_machine(node.name)


_DRIVERS: dict[str, Callable[[], Driver]] = {
    "kubernetes": kubernetes_driver,
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


def tracking_sockets() -> list[Path]:
    """Where the door to the address of tracking (`LaunchRequest.tracking`) has to listen."""
    found = {driver.tracking_socket() for driver in drivers().values() if isinstance(driver, EgressMixin)}
    return sorted(found)
