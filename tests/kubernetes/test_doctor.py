"""What a check of a cluster concludes from what it sees."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes.client import ApiException

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster, VolumeSource
from apps.workloads.drivers.kubernetes.doctor import examining, proving, reading
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.drivers.kubernetes.doctor.probe import Probe
from apps.workloads.drivers.kubernetes.doctor.probing import Probes, trouble
from apps.workloads.drivers.kubernetes.inventory import SeenNode, read_node
from apps.workloads.drivers.kubernetes.observing import Container, Pod, State
from apps.workloads.drivers.request import DATA


def node(name: str, *, ready: bool = True, kubelet: str = "v1.36.0", **allocatable: str) -> SeenNode:
    conditions = [
        {"type": "Ready", "status": "True" if ready else "Unknown", "message": "Kubelet stopped posting node status."},
        {"type": "DiskPressure", "status": "False"},
    ]
    status = {"conditions": conditions, "allocatable": allocatable, "nodeInfo": {"kubeletVersion": kubelet}}
    return read_node({"metadata": {"name": name, "uid": f"uid-{name}"}, "status": status})[1]


@pytest.mark.parametrize(
    ("server", "kubelet", "level", "case"),
    [
        ("v1.33.9", "v1.33.9", Level.FAIL, "old"),
        ("v1.36.1", "v1.32.0", Level.WARN, "skew"),
        ("v1.36.1", "v1.33.0", Level.OK, "fits"),
        ("v1.34.2-gke.1", "v1.34.2-gke.1", Level.OK, "fits"),
    ],
)
def test_versions(server: str, kubelet: str, level: Level, case: str) -> None:
    found = reading.versions(server, [node("a", kubelet=kubelet)])
    assert (found.level, found.case) == (level, case)


def test_nodes_in_trouble_are_named() -> None:
    assert reading.ready_nodes([node("a"), node("b")]).level is Level.OK
    found = reading.ready_nodes([node("a"), node("b", ready=False)])
    assert (found.level, found.params["bad"]) == (Level.WARN, ["b: Ready"])
    assert found.command == "kubectl describe node b"
    assert reading.ready_nodes([node("a", ready=False)]).level is Level.FAIL
    assert reading.ready_nodes([]).level is Level.FAIL


def test_who_gives_cards() -> None:
    plugin = node("a", **{"nvidia.com/gpu": "8", "cpu": "4"})
    offered = SimpleNamespace(spec=SimpleNamespace(driver="gpu.nvidia.com", devices=[1, 2]))
    assert reading.cards([node("a")], []).case == "none"
    counted = reading.cards([plugin], [])
    assert (counted.case, counted.level, counted.params["plugins"]) == ("counted", Level.WARN, ["nvidia.com/gpu: 8"])
    claimed = reading.cards([plugin], [offered])
    assert (claimed.level, claimed.params["drivers"]) == (Level.OK, ["gpu.nvidia.com: 2"])


@pytest.fixture
def probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probes:
    """Two pods on two nodes that answered."""
    monkeypatch.setattr(proving, "SETTLE_S", 0.0)
    monkeypatch.setattr(proving, "AGAIN_S", 0.0)
    cluster = Cluster("p", {}, "python:3", {DATA: VolumeSource({}, "", tmp_path)}, b"s")
    made = Probes(cluster)
    for name in ("a", "b"):
        made.pods[name] = Pod(name, "ns", name, node=f"node-{name}", address=f"10.0.0.{name}")
        made.told[name] = {"time": 100.0, "asked_at": 100.0, "files": "", "kernel": "6.8", "uids": ["0", "0", "1"]}
    return made


def connected(probes: Probes, monkeypatch: pytest.MonkeyPatch, *answers: bool) -> list[object]:
    """The second pod reaches the first, or not, one try after the other; what rules were made meanwhile."""
    left, rules = list(answers), []  # type: list[bool], list[object]
    monkeypatch.setattr(probes, "ask", lambda *_args: {"reached": left.pop(0)})
    networking = SimpleNamespace(create_namespaced_network_policy=lambda *args, **_how: rules.append(args))
    probes.cluster.__dict__["networking"] = networking
    return rules


@pytest.mark.parametrize(
    ("answers", "level", "case", "rules"),
    [
        ((True,), Level.FAIL, "open", 0),
        ((False, True), Level.OK, "enforced", 1),
        ((False, False), Level.WARN, "carries_nothing", 1),
    ],
)
def test_a_network_policy_is_proved_by_a_port_that_closes_and_opens(
    probes: Probes, monkeypatch: pytest.MonkeyPatch, answers: tuple[bool, ...], level: Level, case: str, rules: int
) -> None:
    made = connected(probes, monkeypatch, *answers)
    found = proving.network_policy(probes, ["a", "b"], lambda: None)
    assert (found.level, found.case, len(made)) == (level, case, rules)


def test_without_two_pods_nothing_is_proved(probes: Probes) -> None:
    probes.told.clear()
    for found in (
        proving.network_policy(probes, ["a", "b"], lambda: None),
        proving.clocks(probes, ["a", "b"]),
        proving.files(probes, ["a", "b"]),
        proving.user_namespaces(probes, "a"),
    ):
        assert found.level is Level.UNKNOWN
    assert proving.reach(probes, ["a", "b"]).level is Level.FAIL


@pytest.mark.parametrize(("seconds", "level"), [(0.2, Level.OK), (-4.8, Level.WARN), (90, Level.FAIL)])
def test_clocks(probes: Probes, seconds: float, level: Level) -> None:
    probes.told["b"]["time"] += seconds
    found = proving.clocks(probes, ["a", "b"])
    assert (found.level, found.params["node"] == "node-b") == (level, True)


def test_files_are_the_platforms_if_what_pods_wrote_is_here(probes: Probes) -> None:
    probes.folder.mkdir(parents=True)
    found = proving.files(probes, ["a", "b"])
    assert (found.level, len(found.params["bad"])) == (Level.FAIL, 2)
    for name in ("a", "b"):
        (probes.folder / f"{probes.word[:12]}-{name}").write_text("")
    assert proving.files(probes, ["a", "b"]).level is Level.OK
    probes.told["a"]["files"] = "Permission denied"
    assert proving.files(probes, ["a", "b"]).params["bad"] == ["node-a: Permission denied"]


def test_what_is_proved_of_each_node_is_told_apart(probes: Probes) -> None:
    probes.folder.mkdir(parents=True)
    (probes.folder / f"{probes.word[:12]}-b").write_text("")
    found = proving.files(probes, ["a", "b"])
    assert (found.params["proved"], found.params["elsewhere"], found.params["errors"]) == (
        ["node-b"],
        ["node-a"],
        ["–"],
    )
    del probes.told["a"]
    probes.made.append(Probe("a", "node-a", ""))
    probes.pods["a"] = replace(probes.pods["a"], node="", unscheduled="no room")
    reached = proving.reach(probes, ["a", "b"])
    assert (reached.params["nodes"], reached.params["errors"]) == (["node-a"], ["no room"])


def test_a_node_with_two_probes_is_proved_by_both(probes: Probes) -> None:
    probes.pods["b"] = replace(probes.pods["b"], node="node-a")
    probes.folder.mkdir(parents=True)
    (probes.folder / f"{probes.word[:12]}-b").write_text("")
    assert proving.files(probes, ["a", "b"]).params["proved"] == []


def test_nodes_that_wait_are_tried_some_at_a_time_and_nothing_of_them_stays(
    probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining, "MOST_AT_ONCE", 2)
    living: list[set[str]] = [set()]

    def make(node: str) -> str:
        living.append(living[-1] | {node})
        return node

    monkeypatch.setattr(Probes, "make", lambda _self, node: make(node))
    monkeypatch.setattr(Probes, "wait", lambda *_args: None)
    monkeypatch.setattr(examining, "remove_pod", lambda _found, name: living.append(living[-1] - {name}))
    assert examining._tried(probes, ["a", "b", "c"], lambda: None) == ["a", "b", "c"]
    assert max(map(len, living)) == 2
    assert living[-1] == set()


@pytest.mark.parametrize(
    ("uids", "case"), [(["0", "231072", "65536"], "mapped"), (["0", "0", "4294967295"], "ignored")]
)
def test_user_namespaces(probes: Probes, uids: list[str], case: str) -> None:
    probes.told["a"]["uids"] = uids
    assert proving.user_namespaces(probes, "a").case == case


@pytest.mark.parametrize(
    ("error", "level"),
    [
        ('failed to resolve reference "hub:5000/plstack-probe/none:0": not found', Level.OK),
        ("pull access denied, repository does not exist or may require authorization", Level.OK),
        ("dial tcp 10.0.0.1:5000: connect: connection refused", Level.WARN),
        ("dial tcp: lookup hub: no such host", Level.WARN),
        ("", Level.UNKNOWN),
    ],
)
def test_a_registry_that_refuses_has_answered(
    probes: Probes, monkeypatch: pytest.MonkeyPatch, error: str, level: Level
) -> None:
    core = SimpleNamespace(create_namespaced_pod=lambda *_a, **_h: None, delete_namespaced_pod=lambda *_a, **_h: None)
    probes.cluster.__dict__["core"] = core
    monkeypatch.setattr(proving, "_pull_error", lambda *_args: error)
    assert proving.registry(probes, "node-a", "hub:5000", lambda: None).level is level
    assert proving.registry(probes, "node-a", "", lambda: None).case == "no_registry"


@pytest.mark.parametrize(
    ("container", "words"),
    [
        (Container("probe", "python", State.WAITING, "ErrImagePull", "no such image"), "no such image"),
        (Container("probe", "python", State.TERMINATED, "Error"), "Error"),
        (Container("probe", "python", State.WAITING, "ContainerCreating"), ""),
        (Container("probe", "python", State.RUNNING), ""),
    ],
)
def test_why_a_probe_does_not_start(container: Container, words: str) -> None:
    assert trouble(Pod("a", "ns", "u", containers=(container,))) == words


def test_one_check_that_is_refused_keeps_no_other_from_being_made() -> None:
    def refuse() -> Finding:
        raise ApiException(status=403, reason="Forbidden")

    found = examining._guarded(Check.CARDS, refuse)
    assert (found.level, found.case) == (Level.FAIL, "refused")
    assert found.params["said"]["params"]["status"] == 403


def test_a_cluster_that_is_silent_is_said_to_be(tmp_path: Path) -> None:
    config: dict[str, Any] = {
        "apiVersion": "v1",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    cluster = Cluster("p", config, "python:3", {names.CLAIM: VolumeSource({}, "", tmp_path)}, b"s")
    [found] = examining.examine(cluster, "", lambda _check: None)
    assert (found.check, found.level, found.case) == (Check.ANSWER, Level.FAIL, "silent")
    assert "refused" in found.params["said"]["text"]
