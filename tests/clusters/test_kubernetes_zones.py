"""Kubernetes clusters as zones: what is asked, stored and refused. Against a real one: tests/kube."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.test import Client

from apps.audit.models import Entry
from apps.clusters.cards import Card
from apps.clusters.discovery import Machine
from apps.clusters.models import KubernetesCluster, Node, Zone
from apps.clusters.services import kubernetes as rows
from apps.common.errors import Conflict, Denied, Invalid
from apps.common.scoping import acting
from apps.workloads import nodes
from apps.workloads.drivers.base import CannotSee, Isolation, IsolationLevel
from apps.workloads.drivers.capabilities import FoundNode
from apps.workloads.drivers.kubernetes.inspection import Facts
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import kubernetes_zones
from tests.builders import actor_of, make_staff, make_world, platform, signed_in

pytestmark = pytest.mark.django_db
TOKEN = "a-token-of-the-cluster"
CONFIG = yaml.safe_dump(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1:6443"}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
)
ASKED = {"name": "nanhu", "kubeconfig": CONFIG, "image": "python:3.11"}


class Answers:
    """A driver whose clusters say this."""

    name = "kubernetes"

    def __init__(self) -> None:
        self.facts = Facts("uid-1", "v1.36.3", claims_cards=True, user_namespaces=True, missing=())
        self.found = [node("node-a"), node("node-b")]
        self.silent: Said | None = None

    def inspect(self, _cluster: Any) -> Facts:
        self._speak()
        return self.facts

    def nodes_of(self, _cluster: Any) -> list[FoundNode]:
        self._speak()
        return self.found

    def _speak(self) -> None:
        if self.silent is not None:
            raise CannotSee(self.silent)


def node(name: str, cpu_milli: int = 8000) -> FoundNode:
    card = Card(f"GPU-of-{name}", 0, "nvidia", "H100", 81920)
    machine = Machine(name, "amd64", cpu_milli, 65536, 0, 0, 0, 0.0, {"kubelet": "v1.36.3"}, (card,))
    return FoundNode(f"id-of-{name}", machine, Isolation(IsolationLevel.L1))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    made = Answers()
    monkeypatch.setattr(nodes, "kubernetes_driver", lambda: made)
    return made


@pytest.fixture
def add(answers: Answers) -> Callable[..., Zone]:
    return lambda **changes: kubernetes_zones.add(platform(), **(ASKED | changes))


def test_a_cluster_becomes_a_zone_with_its_nodes_and_cards(add: Callable[..., Zone]) -> None:
    zone = add()
    found = Node.objects.filter(cluster__zone=zone).order_by("name")
    assert [(each.name, each.address, each.isolation) for each in found] == [
        ("node-a", "node-a", "L1"),
        ("node-b", "node-b", "L1"),
    ]
    assert [card.uuid for each in found for card in each.accelerators.all()] == ["GPU-of-node-a", "GPU-of-node-b"]
    row = KubernetesCluster.objects.get(zone=zone)
    assert (row.version, row.claims_cards, row.silent_since) == ("v1.36.3", True, None)


def test_its_credentials_are_sealed_and_in_no_log(add: Callable[..., Zone]) -> None:
    row = KubernetesCluster.objects.get(zone=add())
    assert TOKEN.encode() not in bytes(row.sealed_config)
    assert rows.config_of(row)["users"][0]["user"]["token"] == TOKEN
    with acting(platform()):
        assert not [entry for entry in Entry.objects.all() if TOKEN in f"{entry.after} {entry.before}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clusters: [", "no YAML"),
        ("just words", "no kubeconfig"),
        ("clusters: 3\nusers: []", "no kubeconfig"),
        (CONFIG.replace(f"token: {TOKEN}", "exec: {command: aws}"), "command to sign in"),
        (CONFIG.replace(f"token: {TOKEN}", "client-key: /root/key.pem"), "names files"),
        ("a: " + "b" * kubernetes_zones.MOST_BYTES, "too long"),
    ],
)
def test_what_is_no_usable_kubeconfig_is_refused_beside_the_field(
    add: Callable[..., Zone], text: str, words: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        add(kubeconfig=text)
    assert words in str(refusal.value.fields["kubeconfig"])
    assert not Zone.objects.filter(name="nanhu").exists()


def test_a_cluster_that_does_not_answer_is_not_added(add: Callable[..., Zone], answers: Answers) -> None:
    answers.silent = Said(Code.CLUSTER_UNREACHABLE, {"error": "Connection refused"})
    with pytest.raises(Invalid) as refusal:
        add()
    assert "Connection refused" in str(refusal.value.fields["kubeconfig"])
    assert not KubernetesCluster.objects.exists()


def test_missing_permissions_are_named(add: Callable[..., Zone], answers: Answers) -> None:
    answers.facts = Facts("uid-1", "v1.36.3", True, True, missing=("create pods", "patch namespaces"))
    with pytest.raises(Invalid) as refusal:
        add()
    assert "create pods, patch namespaces" in str(refusal.value.fields["kubeconfig"])


def test_the_same_cluster_is_added_once(add: Callable[..., Zone]) -> None:
    add()
    with pytest.raises(Conflict, match="nanhu"):
        add(name="again")
    assert not Zone.objects.filter(name="again").exists()


def test_a_cluster_that_falls_silent_keeps_its_nodes_and_says_since_when(
    add: Callable[..., Zone], answers: Answers
) -> None:
    zone = add()
    answers.silent = Said(Code.CLUSTER_UNREACHABLE, {"error": "timed out"})
    kubernetes_zones.discover_all()
    row = KubernetesCluster.objects.get(zone=zone)
    since = row.silent_since
    assert since is not None
    assert "timed out" in row.trouble
    assert Node.objects.filter(cluster__zone=zone).count() == 2
    kubernetes_zones.discover_all()
    row.refresh_from_db()
    assert row.silent_since == since
    answers.silent = None
    kubernetes_zones.discover_all()
    row.refresh_from_db()
    assert (row.silent_since, row.trouble) == (None, "")


def test_what_foreign_pods_take_is_followed(add: Callable[..., Zone], answers: Answers) -> None:
    zone = add()
    answers.found = [node("node-a", cpu_milli=3000), node("node-b")]
    kubernetes_zones.discover_all()
    assert Node.objects.get(cluster__zone=zone, name="node-a").cpu_milli == 3000


def test_a_node_whose_name_is_taken_gets_its_zones_before_it(add: Callable[..., Zone], answers: Answers) -> None:
    add()
    answers.facts = Facts("uid-2", "v1.36.3", True, True, missing=())
    other = node("node-a")
    answers.found = [FoundNode("another-id", other.machine, other.isolation)]
    zone = add(name="beihu")
    found = Node.objects.get(cluster__zone=zone)
    assert (found.name, found.address) == ("beihu-node-a", "node-a")


def test_only_who_manages_nodes_may_add_one(answers: Answers) -> None:
    with acting(platform()):
        world = make_world()
    with pytest.raises(Denied):
        kubernetes_zones.add(actor_of(world.alice, world.organisation), **ASKED)


def test_the_page_keeps_what_was_typed_and_says_what_is_wrong(answers: Answers) -> None:
    client: Client = signed_in(make_staff())
    page = client.post("/console/zones/kubernetes/", {**ASKED, "kubeconfig": "words"})
    assert page.status_code == 422
    assert "This is no kubeconfig" in page.content.decode()
    assert 'value="nanhu"' in page.content.decode()
    done = client.post("/console/zones/kubernetes/", ASKED)
    assert done.status_code == 302
    shown = client.get(done["Location"]).content.decode()
    assert "v1.36.3" in shown
    assert TOKEN not in shown
