"""A real cluster as a zone of the platform."""

import base64
import os
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
import yaml
from kubernetes import dynamic

from apps.clusters.models import KubernetesCluster, Node
from apps.common.errors import Conflict, Invalid
from apps.workloads.drivers.kubernetes import account
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place
from apps.workloads.drivers.kubernetes.driver import KubernetesDriver
from apps.workloads.hardware import kubernetes_zones
from tests.builders import platform
from tests.drivers.kit import eventually
from tests.kube.conftest import IMAGE, UID
from tests.kube.kit import KubeKit

pytestmark = [pytest.mark.kube, pytest.mark.django_db]


@pytest.fixture
def kubeconfig() -> str:
    return Path(os.environ["KUBECONFIG"]).read_text()


def test_it_is_added_by_its_kubeconfig_and_its_nodes_are_found(kubeconfig: str) -> None:
    zone = kubernetes_zones.add(platform(), name="real", kubeconfig=kubeconfig, image=IMAGE)
    row = KubernetesCluster.objects.get(zone=zone)
    assert row.version.startswith("v1.")
    nodes = list(Node.objects.filter(cluster__zone=zone))
    assert nodes
    assert all(node.allocatable_memory_mib > 0 for node in nodes)  # their cores may be others' just now
    with pytest.raises(Conflict):
        kubernetes_zones.add(platform(), name="again", kubeconfig=kubeconfig, image=IMAGE)


def test_an_account_of_nobody_is_told_so(kubeconfig: str) -> None:
    config = yaml.safe_load(kubeconfig)
    config["users"][0]["user"] = {"token": "of-nobody"}
    with pytest.raises(Invalid) as refusal:
        kubernetes_zones.add(platform(), name="real", kubeconfig=yaml.safe_dump(config), image=IMAGE)
    assert "refuses" in str(refusal.value.fields["kubeconfig"])


def test_a_cluster_where_nobody_listens_is_told_so(kubeconfig: str) -> None:
    config = yaml.safe_load(kubeconfig)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    with pytest.raises(Invalid) as refusal:
        kubernetes_zones.add(platform(), name="real", kubeconfig=yaml.safe_dump(config), image=IMAGE)
    assert "refused" in str(refusal.value.fields["kubeconfig"])


def test_the_account_in_the_repository_is_enough(cluster: Cluster, kit: KubeKit, node: str) -> None:
    """A run from its launch to nothing left, as that account."""
    api = dynamic.DynamicClient(cluster.api)
    for each in account.manifests():
        kind = api.resources.get(api_version=each["apiVersion"], kind=each["kind"])
        kind.server_side_apply(each, field_manager="tests", namespace=each["metadata"].get("namespace"))
    secret = eventually(lambda: cluster.core.read_namespaced_secret(account.NAME, account.NAME).data, bool)
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    config["users"][0]["user"] = {"token": base64.b64decode(secret["token"]).decode()}
    theirs = replace(cluster, kubeconfig=config)
    driver = KubernetesDriver(lambda _node: Place(theirs, node), lambda _tenant: UID)
    assert driver.inspect(theirs).missing == ()
    kit.driver = driver
    request = kit.python("print('hello')", tenant_id=uuid4())
    ended, text = kit.run(request)
    assert ended.succeeded, text
    assert text == "hello\n"
