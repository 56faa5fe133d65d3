"""When a look at an attempt is answered by what this process knows, and when the API itself is asked."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from apps.workloads.drivers.base import Handle, Observation, Phase
from apps.workloads.drivers.channel.client import ChannelGone
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place, VolumeSource
from apps.workloads.drivers.kubernetes.driver import NAME, KubernetesDriver
from apps.workloads.drivers.kubernetes.observing import Container, Pod, State
from apps.workloads.drivers.request import DATA
from apps.workloads.drivers.said import Code, Said

REF = str(UUID(int=7))
HANDLE = Handle(NAME, "gpu-1", REF)
RUNS = Pod(
    names.pod(REF), "ns", "u", node="gpu-1", address="10.0.0.9", phase="Running",
    containers=(Container(names.SHIM, "python", State.RUNNING), Container(names.PROGRAM, "torch", State.RUNNING)),
)  # fmt: skip
ENDED = replace(RUNS, containers=(Container(names.SHIM, "python", State.TERMINATED),))


class Shim:
    """At the other end of a channel."""

    def __init__(self, answers: bool = True) -> None:
        self.answers = answers

    def observe(self) -> Observation:
        if not self.answers:
            raise ChannelGone(Said(Code.POD_STARTING))
        return Observation(Phase.RUNNING)

    def close(self) -> None:
        pass


class Asked:
    """The driver's pods, with what the API would say, and how often it was asked."""

    def __init__(self, driver: KubernetesDriver, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pods, self.count = driver._pods, 0
        self.known: Pod | None = None
        self.there: Pod | None = RUNS
        self.shim = Shim()
        monkeypatch.setattr(self.pods, "find", self._find)
        monkeypatch.setattr(self.pods, "client", lambda *_args: self.shim)
        monkeypatch.setattr(self.pods, "remove", lambda *_args: None)
        monkeypatch.setattr(self.pods.views, "pod", lambda *_args: self.known)
        view = type("View", (), {"keep": lambda _self: None})()
        monkeypatch.setattr(self.pods.views, "of", lambda _cluster: type("Views", (), {"pods": view})())

    def _find(self, *_args: object) -> Pod | None:
        self.count += 1
        return self.there


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The attempt's journal, which its shim has begun."""
    made = tmp_path / uuid4().hex / "runs" / REF
    made.mkdir(parents=True)
    (made / "state.json").write_text("{}")
    return made


@pytest.fixture
def driver(tmp_path: Path, run: Path) -> KubernetesDriver:
    cluster = Cluster("p", {}, "python:3", {DATA: VolumeSource({}, "", tmp_path)}, b"secret")
    return KubernetesDriver(lambda node: Place(cluster, node), lambda _tenant: 1)


@pytest.fixture
def asked(driver: KubernetesDriver, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(driver, monkeypatch)


def test_a_pod_that_is_known_to_run_costs_the_api_nothing(driver: KubernetesDriver, asked: Asked) -> None:
    asked.known = RUNS
    assert driver.observe(HANDLE).phase is Phase.RUNNING
    assert asked.count == 0


def test_a_pod_that_is_not_known_is_asked_for(driver: KubernetesDriver, asked: Asked) -> None:
    assert driver.observe(HANDLE).phase is Phase.RUNNING
    assert asked.count == 1


def test_an_end_is_taken_from_the_api_alone(driver: KubernetesDriver, asked: Asked, run: Path) -> None:
    asked.known = ENDED
    assert driver.observe(HANDLE).phase is Phase.RUNNING
    assert asked.count == 1
    assert not (run / "exit.json").exists()
    asked.there = ENDED
    assert driver.observe(HANDLE).phase is Phase.LOST


def test_a_pod_that_the_api_does_not_have_is_lost_once_its_shim_is_silent(
    driver: KubernetesDriver, asked: Asked, run: Path
) -> None:
    """The API server was restored from a backup: what runs is not ended by what it has forgotten."""
    asked.there = None
    asked.pods._channels[REF] = (RUNS.address, asked.shim)  # type: ignore[assignment]
    assert driver.observe(HANDLE).phase is Phase.RUNNING
    assert not (run / "exit.json").exists()
    asked.shim.answers = False
    seen = driver.observe(HANDLE)
    assert seen.phase is Phase.LOST
    assert seen.exit is not None
    assert seen.exit.said is not None
    assert seen.exit.said.code is Code.POD_GONE
