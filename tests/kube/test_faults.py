"""What a cluster does to work, and what work may not do to a cluster."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from apps.workloads.drivers.base import CannotSee, DeviceGrant, ExitReason, Handle, Phase, Reference
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place
from apps.workloads.drivers.kubernetes.driver import KubernetesDriver
from apps.workloads.drivers.said import Code
from tests.drivers.contract_running import GROWS, SAVES_WHEN_STOPPED
from tests.kube.conftest import UID
from tests.kube.kit import KubeKit

pytestmark = pytest.mark.kube
WAITS = "import time; print('ready', flush=True); time.sleep(600)"
PROBES = """
import json, os, socket
def reads(path):
    try:
        open(path).read(1)
        return True
    except OSError:
        return False
def reaches(host, port):
    try:
        socket.create_connection((host, port), 2).close()
        return True
    except OSError:
        return False
shim = [pid for pid in os.listdir('/proc') if pid.isdigit() and pid != str(os.getpid())
        and b'kubernetes.pod import shim' in open(f'/proc/{pid}/cmdline', 'rb').read()]
print(json.dumps({
    'uid': os.getuid(),
    'token': reads('/var/run/secrets/kubernetes.io/serviceaccount/token'),
    'given': os.path.exists('/plstack/given'),
    'journal': os.path.exists('/plstack/runs'),
    'shim': bool(shim),
    'capabilities': [line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')],
    'no new privileges': [line.split()[1] for line in open('/proc/self/status') if line.startswith('NoNewPrivs')],
    'writes runtimes': os.access('/plstack/runtimes', os.W_OK),
}))
"""


def find(cluster: Cluster, handle: Handle) -> Any:
    chosen = names.selector({names.ATTEMPT: handle.ref})
    return cluster.core.list_pod_for_all_namespaces(label_selector=chosen).items


def test_a_pod_that_somebody_deletes_is_lost_with_its_log_kept_and_time_to_save(kit: KubeKit, cluster: Cluster) -> None:
    handle = kit.launch(kit.python(SAVES_WHEN_STOPPED))
    kit.wait_output(handle, "ready")
    [pod] = find(cluster, handle)
    cluster.core.delete_namespaced_pod(pod.metadata.name, pod.metadata.namespace)
    seen = kit.wait(handle)
    assert seen.phase is Phase.LOST
    assert seen.exit is not None
    assert seen.exit.said is not None
    assert seen.exit.said.code is Code.POD_TAKEN_AWAY
    assert "saved" in kit.text(handle)
    assert seen.ran_for_s is not None


def test_a_pod_that_is_taken_away_without_a_word_is_lost_and_keeps_what_it_had_printed(
    kit: KubeKit, cluster: Cluster
) -> None:
    handle = kit.launch(kit.python(WAITS))
    kit.wait_output(handle, "ready")
    [pod] = find(cluster, handle)
    cluster.core.delete_namespaced_pod(pod.metadata.name, pod.metadata.namespace, grace_period_seconds=0)
    seen = kit.wait(handle)
    assert seen.phase is Phase.LOST
    assert kit.text(handle) == "ready\n"


def test_a_pod_that_is_taken_away_before_it_began_is_lost(kit: KubeKit, cluster: Cluster) -> None:
    handle = kit.launch(kit.python(WAITS))
    [pod] = find(cluster, handle)
    cluster.core.delete_namespaced_pod(pod.metadata.name, pod.metadata.namespace, grace_period_seconds=0)
    seen = kit.wait(handle)
    assert seen.phase is Phase.LOST
    assert find(cluster, handle) == []


def test_nothing_is_left_on_the_cluster_once_the_end_is_known(kit: KubeKit, cluster: Cluster) -> None:
    handle = kit.launch(kit.python("print('hello')"))
    kit.wait(handle)
    assert find(cluster, handle) == []
    chosen = names.selector({names.ATTEMPT: handle.ref})
    assert cluster.core.list_secret_for_all_namespaces(label_selector=chosen).items == []
    assert kit.text(handle) == "hello\n"


def test_an_image_that_is_not_there_is_named_and_nothing_ran(kit: KubeKit) -> None:
    image = Reference("registry.invalid/team/none", f"sha256:{'0' * 64}")
    seen = kit.wait(kit.launch(kit.request("true", image=image)))
    assert seen.exit is not None
    assert seen.exit.reason is ExitReason.IMAGE_FAILED
    assert "registry.invalid/team/none" in seen.exit.detail
    assert seen.ran_for_s is None


def test_a_cluster_that_does_not_answer_ends_nothing(kit: KubeKit, cluster: Cluster) -> None:
    handle = kit.launch(kit.python(WAITS))
    kit.wait_output(handle, "ready")
    away = replace(cluster, kubeconfig=elsewhere(cluster.kubeconfig))
    deaf = KubernetesDriver(lambda _node: Place(away, kit.node), lambda _tenant: UID)
    for ask in (deaf.observe, deaf.logs):
        with pytest.raises(CannotSee):
            ask(handle)
    assert kit.driver.observe(handle).phase is Phase.RUNNING


def elsewhere(kubeconfig: Mapping[str, Any]) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(kubeconfig))
    found["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    return found


def test_memory_that_ran_out_is_named_whoever_ended_the_program(kit: KubeKit) -> None:
    ended, _ = kit.run(kit.python(GROWS, memory_mib=128))
    assert ended.reason is ExitReason.OOM


def test_what_a_program_sees_of_its_pod(kit: KubeKit) -> None:
    ended, text = kit.run(kit.python(PROBES))
    assert ended.succeeded, text
    assert json.loads(text) == {
        "uid": UID,
        "token": False,
        "given": False,
        "journal": False,
        "shim": False,
        "capabilities": ["0000000000000000"],
        "no new privileges": ["1"],
        "writes runtimes": False,
    }


def test_cards_are_given_by_their_number(kit: KubeKit) -> None:
    cards = tuple(DeviceGrant(f"chosen-{n}", n, "nvidia", "A100", 81920, 100, "whole") for n in range(2))
    ended, text = kit.run(kit.python("import os; print(os.environ['NVIDIA_VISIBLE_DEVICES'])", devices=cards))
    assert ended.succeeded, text
    assert len(set(text.strip().split(","))) == 2
    ended, text = kit.run(kit.python("import os; print(os.environ.get('NVIDIA_VISIBLE_DEVICES', 'none'))"))
    assert text.strip() in ("none", "void", "")
