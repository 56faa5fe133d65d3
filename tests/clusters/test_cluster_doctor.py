"""Check-ups of clusters: ordered, done by a worker, kept, and shown."""

from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.audit.models import Entry
from apps.clusters import states
from apps.clusters.choices import CheckupStatus
from apps.clusters.models import ClusterCheckup, Node, Zone
from apps.common.claiming import MOST_CLAIMS
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.scoping import acting
from apps.console.hardware.zones import doctor_words
from apps.workloads import nodes
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import cluster_doctor, kubernetes_zones
from tests.builders import actor_of, make_staff, make_world, platform, signed_in
from tests.clusters.test_kubernetes_zones import ASKED, Answers

pytestmark = pytest.mark.django_db
OPEN = Finding(
    Check.NETWORK_POLICY, Level.FAIL, "open", {"from": "node-b", "to": "node-a", "port": 7172}, "cilium install"
)
FITS = Finding(Check.VERSION, Level.OK, "fits", {"version": "v1.36.3", "kubelets": ["v1.36.3 × 2"], "least": "1.34"})
RIGHTS = Finding(
    Check.PERMISSIONS, Level.FAIL, "missing",
    {"table": [{"resource": "pods", "verbs": {"get": True, "watch": False}}], "missing": ["watch pods"], "wanted": []},
    "kubectl apply",
)  # fmt: skip


class Examined(Answers):
    """A cluster where this is found."""

    findings = (FITS, RIGHTS, OPEN)
    breaks: Exception | None = None
    before: Callable[[], None] = staticmethod(lambda: None)

    def examine(
        self, _cluster: Any, _registry: str, report: Callable[[str], None], _wanted: Collection[str] = ()
    ) -> Iterator[Finding]:
        for found in self.findings:
            self.before()
            report(found.check)
            yield found
        if self.breaks is not None:
            raise self.breaks


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Examined:
    made = Examined()
    monkeypatch.setattr(nodes, "kubernetes_driver", lambda: made)
    return made


@pytest.fixture
def zone(cluster: Examined) -> Zone:
    """As one of long ago, whose nodes are proved: nothing is ordered by itself."""
    made = kubernetes_zones.add(platform(), **ASKED)
    ClusterCheckup.objects.all().delete()
    Node.objects.filter(cluster__zone=made).update(quarantine="")
    return made


def order(zone: Zone) -> ClusterCheckup:
    return cluster_doctor.order_checkup(platform(), zone_id=zone.pk)


def test_it_is_done_by_a_worker_and_kept_with_its_time(zone: Zone) -> None:
    made = order(zone)
    assert cluster_doctor.examine_due() == 1
    made.refresh_from_db()
    assert (made.status, made.step) == (CheckupStatus.DONE, "")
    assert [each["check"] for each in made.findings] == ["version", "permissions", "network_policy"]
    assert made.ended_at is not None
    assert cluster_doctor.examine_due() == 0


def test_one_at_a_time(zone: Zone) -> None:
    order(zone)
    with pytest.raises(Conflict, match="being examined"):
        order(zone)
    cluster_doctor.examine_due()
    order(zone)
    with acting(platform()):
        assert Entry.objects.filter(action="zone.examined").count() == 2


def test_a_zone_of_machines_has_none() -> None:
    zone = Zone.objects.create(name="machines")
    with pytest.raises(NotFound):
        order(zone)
    with pytest.raises(NotFound):
        cluster_doctor.checkups(platform(), zone.pk)


def test_only_those_who_manage_hardware_order_it(zone: Zone) -> None:
    with acting(platform()):
        world = make_world()
    with pytest.raises(Denied):
        cluster_doctor.order_checkup(actor_of(world.alice, world.organisation), zone_id=zone.pk)


def test_what_breaks_down_keeps_what_was_found(zone: Zone, cluster: Examined) -> None:
    cluster.breaks = RuntimeError("a bug")
    made = order(zone)
    cluster_doctor.examine_due()
    made.refresh_from_db()
    assert made.status == CheckupStatus.FAILED
    assert [each["check"] for each in made.findings] == ["version", "permissions"]


def test_a_worker_that_was_killed_is_followed_by_another_whose_result_counts(zone: Zone, cluster: Examined) -> None:
    made = order(zone)
    assert states.claim_checkup() is not None
    assert states.claim_checkup() is None
    ClusterCheckup.objects.update(beat_at=db_now() - states.SILENT - timedelta(seconds=1))
    late = states.claim_checkup()
    assert late is not None
    assert late.fence == 2
    made.fence = 1
    assert not states.finish_checkup(made, [])
    assert states.finish_checkup(late, [])


def test_one_whose_claim_was_taken_stops_at_once(zone: Zone, cluster: Examined) -> None:
    made = order(zone)
    cluster.before = lambda: ClusterCheckup.objects.update(fence=7)  # type: ignore[method-assign]
    cluster_doctor.examine_due()
    made.refresh_from_db()
    assert (made.status, made.findings) == (CheckupStatus.RUNNING, [])


def test_what_has_ended_three_workers_is_given_up(zone: Zone) -> None:
    made = order(zone)
    ClusterCheckup.objects.update(fence=MOST_CLAIMS)
    cluster_doctor.examine_due()
    made.refresh_from_db()
    assert made.status == CheckupStatus.FAILED


def test_old_ones_are_deleted(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_doctor, "KEPT", 2)
    made = [order(zone) for _ in range(4) if cluster_doctor.examine_due() >= 0]
    assert set(ClusterCheckup.objects.values_list("pk", flat=True)) == {each.pk for each in made[-2:]}


def test_the_page_says_what_was_seen_and_what_mends_it(zone: Zone) -> None:
    staff = signed_in(make_staff())
    path = f"/console/zones/{zone.pk}/doctor/"
    assert "Not examined yet" in staff.get(path).content.decode()
    assert staff.post(f"{path}examine/").status_code == 302
    assert "progressbar" in staff.get(path).content.decode()
    again = staff.post(f"{path}examine/", follow=True).content.decode()
    assert "being examined already" in again
    cluster_doctor.examine_due()
    page = staff.get(path).content.decode()
    assert "Proved not to be enforced" in page
    assert "cilium install" in page
    assert "watch pods" in page
    assert "v1.36.3 × 2" in page
    assert "faults: 2" in staff.get(f"/console/zones/{zone.pk}/").content.decode()


def test_the_endpoint_orders_and_lists(zone: Zone) -> None:
    staff = signed_in(make_staff())
    path = f"/api/v1/console/zones/{zone.pk}/checkups/"
    made = staff.post(path)
    assert (made.status_code, made.json()["status"]) == (201, "queued")
    assert staff.post(path).status_code == 409
    cluster_doctor.examine_due()
    [found] = staff.get(path).json()
    assert found["status"] == "done"
    assert [each["level"] for each in found["findings"]] == ["ok", "fail", "fail"]
    assert found["findings"][2]["command"] == "cilium install"


@pytest.mark.parametrize(("check", "case"), sorted(doctor_words._SAID))
def test_every_sentence_takes_what_its_check_gives(check: str, case: str) -> None:
    names = "server ms version kubelets least nodes missing wanted count bad drivers plugins classes image why port"
    names += " from to outside kernel node error seconds host"
    params = {name: ["x"] if name.endswith("s") else "x" for name in names.split()}
    assert doctor_words.told({"check": check, "level": "ok", "case": case, "params": params}).seen


def test_what_a_later_version_found_is_shown_as_far_as_it_is_known() -> None:
    shown = doctor_words.told({"check": "weather", "case": "rain", "params": {}, "level": "warn"})
    assert (shown.title, shown.seen) == ("weather", "It could not be proved.")
    said = Said(Code.CLUSTER_REFUSES, {"status": 403, "error": "no"}).as_json()
    assert "403" in doctor_words.told({"check": "nodes", "case": "refused", "params": {"said": said}}).seen
