"""A check-up of a real cluster."""

from dataclasses import replace

import pytest

from apps.workloads.drivers.kubernetes.cluster import Cluster
from apps.workloads.drivers.kubernetes.doctor import probe
from apps.workloads.drivers.kubernetes.doctor.examining import examine
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Level
from tests.kube.test_faults import elsewhere

pytestmark = pytest.mark.kube


def test_everything_is_asked_or_proved_and_nothing_is_left(cluster: Cluster) -> None:
    steps: list[Check] = []
    found = {each.check: each for each in examine(cluster, "127.0.0.1:1", steps.append)}
    assert set(found) == set(Check)
    assert set(steps) >= {Check.PROBES, Check.NETWORK_POLICY, Check.REGISTRY}
    for check in (Check.ANSWER, Check.VERSION, Check.PERMISSIONS, Check.PROBES, Check.REACH, Check.FILES, Check.CLOCKS):
        assert found[check].level is Level.OK, found[check]
    assert found[Check.NETWORK_POLICY].case in ("open", "enforced")  # whichever it is, it was proved
    assert found[Check.USER_NAMESPACES].case in ("mapped", "ignored", "refused")
    assert found[Check.REGISTRY].case == "unreachable"  # nobody listens there
    assert cluster.core.list_pod_for_all_namespaces(label_selector=probe.LABEL).items == []


def test_a_cluster_where_nobody_listens_is_said_to_be_silent(cluster: Cluster) -> None:
    away = replace(cluster, kubeconfig=elsewhere(cluster.kubeconfig))
    [found] = examine(away, "", lambda _check: None)
    assert (found.check, found.case) == (Check.ANSWER, "silent")
