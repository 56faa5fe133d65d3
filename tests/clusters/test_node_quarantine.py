"""Nodes that the platform gives no work: those of a cluster before they are proved, and those that are disproved."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from apps.clusters import services, states
from apps.clusters.choices import CheckupStatus, Quarantine, StorageKind
from apps.clusters.models import ClusterCheckup, Node, Zone
from apps.clusters.node_quarantine import Grounds, grounds_of
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.workloads import nodes
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.hardware import cluster_doctor, kubernetes_zones, node_proofs
from apps.workloads.reconcile import snapshot, topology_version
from tests.builders import make_staff, platform, signed_in
from tests.clusters.test_kubernetes_zones import ASKED, Answers, node

pytestmark = pytest.mark.django_db
DESCRIBE = "kubectl describe pv x"


def files(proved: Collection[str] = (), elsewhere: Collection[str] = ()) -> Finding:
    params = {
        "nodes": [*proved, *elsewhere],
        "bad": [f"{name}: –" for name in elsewhere],
        "proved": sorted(proved),
        "elsewhere": list(elsewhere),
        "errors": ["–" for _name in elsewhere],
    }
    if elsewhere:
        return Finding(Check.FILES, Level.FAIL, "elsewhere", params, DESCRIBE)
    return Finding(Check.FILES, Level.OK, "shared", params)


def unreachable(*names: str) -> Finding:
    params = {"port": 7171, "nodes": list(names), "errors": ["no route" for _name in names]}
    return Finding(Check.REACH, Level.FAIL, "unreachable", params, "ip route get POD-ADDRESS")


class Cluster(Answers):
    """Two nodes, of which a check-up finds this."""

    findings: tuple[Finding, ...] = (files(("node-a", "node-b")),)
    before: Callable[[], None] = staticmethod(lambda: None)
    wanted: list[str]

    def examine(
        self, _cluster: Any, _registry: str, _report: Callable[[str], None], wanted: Collection[str] = ()
    ) -> Iterator[Finding]:
        self.wanted = sorted(wanted)
        self.before()
        yield from self.findings


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(nodes, "kubernetes_driver", lambda: made)
    return made


@pytest.fixture
def zone(cluster: Cluster) -> Zone:
    return kubernetes_zones.add(platform(), **ASKED)


def why() -> dict[str, str]:
    return dict(Node.objects.order_by("name").values_list("name", "quarantine"))


def taking_work() -> list[str]:
    """Names of the nodes on which the scheduler would place something."""
    names = {str(pk): name for pk, name in Node.objects.values_list("pk", "name")}
    return sorted(names[each.id] for each in snapshot.nodes(db_now(), False) if each.schedulable)


def later(passed: timedelta) -> None:
    """All that has happened was so much earlier."""
    for row in ClusterCheckup.objects.all():
        moments = {"created_at": row.created_at - passed}
        if row.ended_at is not None:
            moments["ended_at"] = row.ended_at - passed
        ClusterCheckup.objects.filter(pk=row.pk).update(**moments)
    for found in Node.objects.exclude(quarantine_changed_at=None):
        Node.objects.filter(pk=found.pk).update(quarantine_changed_at=found.quarantine_changed_at - passed)


class TestBeforeTheProof:
    def test_nodes_of_a_new_zone_take_no_work_until_the_check_up_that_comes_with_it(
        self, zone: Zone, cluster: Cluster
    ) -> None:
        assert taking_work() == []
        assert ClusterCheckup.objects.get(zone=zone).automatic
        before = topology_version.digest(db_now(), False)
        assert cluster_doctor.examine_due() == 1
        assert cluster.wanted == ["node-a", "node-b"]
        assert taking_work() == ["node-a", "node-b"]
        assert topology_version.digest(db_now(), False) != before, "the pass has to read the nodes anew"

    def test_a_node_that_joins_later_waits_for_its_own(self, zone: Zone, cluster: Cluster) -> None:
        cluster_doctor.examine_due()
        cluster.found = [*cluster.found, node("node-c")]
        kubernetes_zones.discover_all()
        assert taking_work() == ["node-a", "node-b"]
        cluster.findings = (files(("node-a", "node-c")),)
        assert cluster_doctor.examine_due() == 1
        assert cluster.wanted == ["node-c"]
        assert taking_work() == ["node-a", "node-b", "node-c"]
        kubernetes_zones.discover_all()
        assert cluster_doctor.examine_due() == 0, "nobody waits any more"

    def test_where_the_zones_files_come_from_elsewhere_all_are_proved_anew(self, zone: Zone) -> None:
        cluster_doctor.examine_due()
        services.set_zone_storage(platform(), zone_id=zone.pk, kind=StorageKind.NFS, source="nas:/export")
        assert taking_work() == []
        kubernetes_zones.discover_all()
        assert cluster_doctor.examine_due() == 1
        assert taking_work() == ["node-a", "node-b"]

    def test_how_much_is_copied_is_no_reason(self, zone: Zone) -> None:
        cluster_doctor.examine_due()
        services.set_zone_storage(platform(), zone_id=zone.pk, kind=StorageKind.FOLDER, dataset_cache_gib=3)
        assert taking_work() == ["node-a", "node-b"]

    def test_a_proof_of_before_a_change_opens_nothing(self, zone: Zone, cluster: Cluster) -> None:
        def change() -> None:
            services.set_zone_storage(platform(), zone_id=zone.pk, kind=StorageKind.NFS, source="nas:/export")
            Node.objects.update(quarantine_changed_at=db_now() + timedelta(seconds=1))

        cluster.before = change  # type: ignore[method-assign]
        cluster_doctor.examine_due()
        assert taking_work() == []

    def test_one_whose_claim_was_taken_opens_nothing(self, zone: Zone, cluster: Cluster) -> None:
        cluster.before = lambda: ClusterCheckup.objects.update(fence=7)  # type: ignore[method-assign]
        cluster_doctor.examine_due()
        assert taking_work() == []

    def test_machines_that_join_by_themselves_are_not_concerned(self, zone: Zone) -> None:
        machine = Node.objects.create(
            cluster=zone.clusters.get(), name="far", driver="remote", arch="x86_64", cpu_milli=1000, memory_mib=1000
        )
        assert machine.quarantine == ""


class TestDisproved:
    def test_a_zone_with_a_wrong_folder_takes_nothing_and_operators_know_why(
        self, zone: Zone, cluster: Cluster
    ) -> None:
        make_staff()
        cluster.findings = (files(elsewhere=("node-a", "node-b")),)
        cluster_doctor.examine_due()
        assert why() == {"node-a": Quarantine.FILES, "node-b": Quarantine.FILES}
        assert taking_work() == []
        assert grounds_of(Node.objects.get(name="node-a")) == Grounds(error="–", command=DESCRIBE)
        with acting(platform()):
            told = words(Notice.objects.get(kind="zone.nodes_unproved"))
        assert "2 nodes of nanhu take no work" in told.title
        assert "node-a, node-b" in told.text

    def test_one_that_cannot_be_reached_waits_and_one_that_was_open_goes_on(self, zone: Zone, cluster: Cluster) -> None:
        cluster.findings = (unreachable("node-b"), files(("node-a",)))
        cluster_doctor.examine_due()
        assert why() == {"node-a": "", "node-b": Quarantine.UNREACHED}
        cluster.findings = (unreachable("node-a"), files(("node-b",)))
        cluster_doctor.order_checkup(platform(), zone_id=zone.pk)
        cluster_doctor.examine_due()
        assert why() == {"node-a": "", "node-b": ""}

    def test_one_that_was_open_and_has_lost_the_files_takes_no_more(self, zone: Zone, cluster: Cluster) -> None:
        cluster_doctor.examine_due()
        cluster.findings = (files(("node-a",), ("node-b",)),)
        cluster_doctor.order_checkup(platform(), zone_id=zone.pk)
        cluster_doctor.examine_due()
        assert taking_work() == ["node-a"]

    def test_of_two_probes_on_a_node_both_have_to_see_them(self) -> None:
        found = node_proofs.read_proofs([replace(files(("a",)), params={"proved": ["a"]}).as_json()])
        assert found.proved == {"a"}
        both = [unreachable("a").as_json(), files(("a",)).as_json()]
        assert node_proofs.read_proofs(both).proved == frozenset()

    def test_what_came_not_so_far_proves_nothing(self) -> None:
        assert node_proofs.read_proofs([Finding(Check.PROBES, Level.FAIL, "error").as_json()]).proved == frozenset()

    def test_it_is_tried_again_after_as_long_as_it_has_waited(self, zone: Zone, cluster: Cluster) -> None:
        cluster.findings = (files(elsewhere=("node-a", "node-b")),)
        cluster_doctor.examine_due()
        kubernetes_zones.discover_all()
        assert not ClusterCheckup.objects.filter(status=CheckupStatus.QUEUED).exists()
        later(node_proofs.SOONEST)
        cluster.findings = (files(("node-a", "node-b")),)
        kubernetes_zones.discover_all()
        assert cluster_doctor.examine_due() == 1
        assert taking_work() == ["node-a", "node-b"]
        cluster.findings = (files(elsewhere=("node-a", "node-b")),)
        kubernetes_zones.discover_all()
        assert not ClusterCheckup.objects.filter(status=CheckupStatus.QUEUED).exists(), "nobody waits any more"

    def test_a_check_up_that_breaks_down_is_not_ordered_again_at_once(self, zone: Zone) -> None:
        made = states.claim_checkup()
        assert made is not None
        states.fail_checkup(made)
        kubernetes_zones.discover_all()
        assert not ClusterCheckup.objects.filter(status=CheckupStatus.QUEUED).exists()
        later(node_proofs.SOONEST)
        kubernetes_zones.discover_all()
        assert ClusterCheckup.objects.filter(status=CheckupStatus.QUEUED).exists()

    def test_nobody_opens_it_by_hand(self, zone: Zone) -> None:
        with pytest.raises(Conflict, match="Nobody has proved"):
            services.trust(platform(), node_id=Node.objects.get(name="node-a").pk)


class TestSaid:
    def test_pages_and_api_say_so_with_what_mends_it(self, zone: Zone, cluster: Cluster) -> None:
        staff, found = signed_in(make_staff()), Node.objects.get(name="node-a")
        page = staff.get(f"/console/nodes/{found.pk}/").content.decode()
        assert "takes no work until the check-up has proved" in page
        assert f"/console/zones/{zone.pk}/doctor/" in page
        cluster.findings = (files(("node-b",), ("node-a",)),)
        cluster_doctor.examine_due()
        page = staff.get(f"/console/nodes/{found.pk}/").content.decode()
        assert "does not see the platform" in page
        assert DESCRIBE in page
        of_zone = staff.get(f"/console/zones/{zone.pk}/").content.decode()
        assert "1 node takes no work" in of_zone
        api = staff.get(f"/api/v1/console/nodes/{found.pk}/").json()
        assert (api["status"], api["quarantine"]["reason"]) == ("quarantined", "files")
        assert api["quarantine"]["command"] == DESCRIBE
        listed = staff.get("/api/v1/console/nodes/?status=quarantined").json()["results"]
        assert [each["name"] for each in listed] == ["node-a"]
        assert [each["name"] for each in staff.get("/api/v1/console/nodes/?status=ready").json()["results"]] == [
            "node-b"
        ]
        assert staff.get(f"/api/v1/console/zones/{zone.pk}/checkups/").json()[0]["automatic"] is True


def test_zones_of_before_stay_open_if_their_last_check_up_proved_the_files(zone: Zone, cluster: Cluster) -> None:
    close_unproved = import_module("apps.clusters.migrations.0014_node_quarantine").close_unproved
    cluster_doctor.examine_due()
    close_unproved(apps, None)
    assert why() == {"node-a": "", "node-b": ""}
    cluster.findings = (files(("node-a",), ("node-b",)),)
    cluster_doctor.order_checkup(platform(), zone_id=zone.pk)
    cluster_doctor.examine_due()
    close_unproved(apps, None)
    assert set(why().values()) == {Quarantine.UNPROVED}
