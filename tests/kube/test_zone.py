"""A real cluster as a zone of the platform."""

import os
from pathlib import Path

import pytest
import yaml

from apps.clusters.models import KubernetesCluster, Node
from apps.common.errors import Conflict, Invalid
from apps.workloads.hardware import kubernetes_zones
from tests.builders import platform
from tests.kube.conftest import IMAGE

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
    assert all(node.allocatable_cpu_milli > 0 and node.allocatable_memory_mib > 0 for node in nodes)
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
