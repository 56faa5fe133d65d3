"""A node that its cluster calls not ready is lost as any machine is: its work is fenced, and goes elsewhere once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import ApiException

from apps.clusters.models import KubernetesCluster, Node
from apps.common.clock import db_now
from apps.workloads import nodes
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.capabilities import AnswersMixin, FencingMixin
from apps.workloads.drivers.kubernetes.cluster import Place
from apps.workloads.drivers.kubernetes.driver import KubernetesDriver
from apps.workloads.drivers.local.stopping import StopFile
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import lost, silence
from tests.builders import World, platform, reload
from tests.kubernetes.api import Server
from tests.workloads.conftest import world as world
from tests.workloads.machines import Machine, die, joined, let_go, node_of, pass_silence, run_for


class Told:
    """An API server that tells this of its nodes."""

    def __init__(self, *ready: bool, error: Exception | None = None) -> None:
        self.server, self.error = Server(), error
        for number, is_ready in enumerate(ready):
            conditions = [{"type": "Ready", "status": "True" if is_ready else "Unknown"}]
            meta = {"name": f"n{number}", "uid": str(number)}
            self.server.objects[str(number)] = {"metadata": meta, "status": {"conditions": conditions}}

    def list_node(self, **how: Any) -> Any:
        assert how.pop("field_selector") == "metadata.name=node-a"
        if self.error is not None:
            raise self.error
        return self.server.fetch(**how)


def driver(told: Told, root: Path | None = None) -> KubernetesDriver:
    place: Any = Place(SimpleNamespace(core=told), "node-a")  # type: ignore[arg-type]
    return KubernetesDriver(lambda _node: place, lambda _tenant: 0, journals_root=lambda: root)


class TestAnswers:
    def test_a_node_answers_as_long_as_its_cluster_calls_it_ready(self) -> None:
        assert driver(Told(True)).answers("a")
        assert not driver(Told(False)).answers("a")
        assert not driver(Told()).answers("a"), "one that was taken out of the cluster"

    @pytest.mark.parametrize("error", [ApiException(status=503), OSError("no route")])
    def test_a_cluster_that_does_not_answer_says_nothing_against_it(self, error: Exception) -> None:
        assert driver(Told(error=error)).answers("a")

    def test_nor_does_one_that_is_not_known(self) -> None:
        def unknown(_node: str) -> Place:
            raise CannotSee(Said(Code.CLUSTER_UNKNOWN, {"name": "a"}))

        assert KubernetesDriver(unknown, lambda _tenant: 0).answers("a")


class TestFence:
    def test_it_is_an_order_to_stop_where_the_shim_looks(self, tmp_path: Path) -> None:
        made, ref = driver(Told(), tmp_path), str(uuid4())
        assert isinstance(made, FencingMixin)
        assert isinstance(made, AnswersMixin)
        made.fence(ref)
        assert list(tmp_path.iterdir()) == [], "what was never launched has nothing to stop"
        folder = tmp_path / "tenant" / "runs" / ref
        folder.mkdir(parents=True)
        made.fence(ref)
        made.fence(ref)
        seen = StopFile(folder / "stop")
        assert seen.is_asked()
        assert seen.is_due()

    def test_what_has_ended_is_left_as_it_is(self, tmp_path: Path) -> None:
        ref = str(uuid4())
        folder = tmp_path / "tenant" / "runs" / ref
        folder.mkdir(parents=True)
        (folder / "exit.json").touch()
        driver(Told(), tmp_path).fence(ref)
        assert not (folder / "stop").is_symlink()


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A node of a cluster, behind the name of the clusters' driver."""
    found = joined(world, monkeypatch)
    row = KubernetesCluster(zone=found.node.cluster.zone, uid="u", sealed_config=b"", image="python")
    row.save()
    Node.objects.filter(pk=found.node.pk).update(driver="kubernetes", address="node-a")
    make = nodes._DRIVERS["remote"]
    monkeypatch.setattr(nodes, "kubernetes_driver", make)
    monkeypatch.setitem(nodes._DRIVERS, "kubernetes", make)
    monkeypatch.delitem(nodes._DRIVERS, "remote")
    return found


class TestSilence:
    def test_after_the_rules_minutes_its_work_goes_elsewhere_and_it_comes_back_by_itself(
        self, world: World, machine: Machine
    ) -> None:
        workload = run_for(world, machine)
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        pass_silence(4)
        assert node_of(machine).lost_at is None
        pass_silence(2)
        assert node_of(machine).lost_at is not None
        lost.advance(platform())
        assert reload(workload).status == Status.RUNNING, "nothing starts elsewhere before the old one is fenced"
        let_go()
        assert (reload(workload).status, workload.reason) == (Status.QUEUED, Reason.LOST)
        machine.reachable = True
        Node.objects.filter(pk=machine.node.pk).update(last_seen_at=db_now())
        lost.readmit_returned_nodes(platform())
        assert node_of(machine).lost_at is None
        assert machine.running == set(), "what it still ran was ended first"

    def test_while_its_cluster_does_not_answer_no_silence_counts(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        die(machine)
        KubernetesCluster.objects.update(silent_since=db_now())
        pass_silence(20)
        assert node_of(machine).lost_at is None

    def test_nor_where_the_cluster_calls_it_ready(self, world: World, machine: Machine) -> None:
        silence.declare_silent_nodes_lost(platform())
        pass_silence(20)
        assert node_of(machine).lost_at is None
