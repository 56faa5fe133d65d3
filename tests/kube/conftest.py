"""A real cluster, and kits of the driver on it."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from kubernetes.client import ApiException

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place, VolumeSource
from apps.workloads.drivers.kubernetes.driver import KubernetesDriver
from apps.workloads.drivers.request import DATA
from tests.kube.kit import KubeKit

IMAGE = os.environ.get("PLSTACK_KUBE_IMAGE", "plstack.test/python:3")
UID = 231_000


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The nodes have this machine's files under the same paths, as those of a zone with a shared folder do."""
    kubeconfig = os.environ.get("KUBECONFIG")
    if not kubeconfig:
        pytest.fail("KUBECONFIG names no cluster")
    own = tmp_path_factory.mktemp("own")
    made = Cluster(
        platform=uuid4().hex,
        kubeconfig=yaml.safe_load(Path(kubeconfig).read_text()),
        image=IMAGE,
        volumes={DATA: VolumeSource({"hostPath": {"path": "/"}}, str(own.relative_to("/")), Path("/"))},
        secret=secrets.token_bytes(32),
    )
    yield made
    chosen = names.selector({names.PLATFORM: names.short(made.platform)})
    for space in named(made.core.list_namespace(label_selector=chosen).items):
        with suppress(ApiException):
            made.core.delete_namespace(space, grace_period_seconds=0)
    for volume in named(made.core.list_persistent_volume(label_selector=chosen).items):
        with suppress(ApiException):
            made.core.delete_persistent_volume(volume)


def named(items: Sequence[Any]) -> list[str]:
    return [str(each.metadata.name) for each in items]


@pytest.fixture(scope="session")
def node(cluster: Cluster) -> str:
    return min(named(cluster.core.list_node().items))


@pytest.fixture(scope="session")
def driver(cluster: Cluster, node: str) -> KubernetesDriver:
    return KubernetesDriver(lambda _node: Place(cluster, node), lambda _tenant: UID)


@pytest.fixture(scope="session")
def tenant() -> UUID:
    return uuid4()


@pytest.fixture
def home(cluster: Cluster, tenant: UUID) -> Path:
    """Where the organisation's journals are."""
    source = cluster.volumes[DATA]
    return source.root / source.own / tenant.hex


@pytest.fixture
def kit(cluster: Cluster, driver: KubernetesDriver, node: str, tenant: UUID, tmp_path: Path) -> Iterator[KubeKit]:
    code, output = tmp_path / "code", tmp_path / "output"
    code.mkdir()
    output.mkdir()
    kit = KubeKit(driver, code, output, joins_machines=True, tenant=tenant, node=node)
    yield kit
    kit.clear(cluster)
