"""How the machines of a zone come to the platform's files: said by an operator, compared with what each node tells."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from apps.clusters.choices import StorageKind
from apps.clusters.models import Node, Zone, ZoneStorage
from apps.clusters.node_storage import NodeStorage
from apps.clusters.services import set_zone_storage
from apps.clusters.storage_checks import Verdict, judged, mending
from apps.common.errors import Invalid
from apps.common.scoping import acting
from tests.builders import World, make_node, platform
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of

SOURCE = "nas.example.net:/export/plstack"
NFS = ZoneStorage(kind=StorageKind.NFS, source=SOURCE)
FOLDER = ZoneStorage(kind=StorageKind.FOLDER)


def told(**changes: Any) -> NodeStorage:
    return NodeStorage(**{"present": True, "kind": "nfs4", "source": SOURCE, "root": "/srv/plstack", **changes})


def tells(node: Node, **changes: Any) -> None:
    Node.objects.filter(pk=node.pk).update(storage=told(**changes).as_json())


@pytest.mark.parametrize(
    ("storage", "seen", "verdict"),
    [
        (NFS, told(), Verdict.HERE),
        (NFS, told(source=f"{SOURCE}/"), Verdict.HERE),
        (NFS, told(source="old.example.net:/export"), Verdict.ELSEWHERE),
        (NFS, told(kind="ext4"), Verdict.ELSEWHERE),
        (NFS, told(present=False, kind="ext4", source="/dev/sda1"), Verdict.MISSING),
        (FOLDER, told(kind="ceph", source="anything"), Verdict.HERE),
        (FOLDER, told(present=False), Verdict.MISSING),
    ],
)
def test_a_node_is_judged_by_what_it_told(storage: ZoneStorage, seen: NodeStorage, verdict: Verdict) -> None:
    assert judged(storage, seen, silent=False) is verdict
    assert judged(storage, seen, silent=True) is Verdict.SILENT


def test_the_command_that_mends_it_is_quoted_and_named_only_where_it_is_known() -> None:
    assert mending(NFS, told()) == f"mount -t nfs4 {SOURCE} /srv/plstack"
    odd = ZoneStorage(kind=StorageKind.NFS, source="nas:/a;reboot")
    assert mending(odd, told(root="/srv/my data")) == "mount -t nfs4 'nas:/a;reboot' '/srv/my data'"
    assert mending(FOLDER, told()) == ""
    assert mending(NFS, told(root="")) == ""


def test_an_operator_says_where_the_files_are_and_sees_which_nodes_differ(ops: Client, world: World) -> None:
    zone = world.node.cluster.zone
    tells(make_node(name="right"))
    tells(make_node(name="wrong"), source="old.example.net:/export")
    tells(make_node(name="bare"), present=False)
    silent = make_node(name="silent")
    tells(silent)
    Node.objects.filter(pk=silent.pk).update(last_seen_at=F("last_seen_at") - timedelta(hours=1))
    assert "A shared folder, however it is mounted" in text_of(ops.get(page("zone", zone.pk)))
    answer = post(ops, page("zone_storage", zone.pk), kind="nfs", source=f" {SOURCE} ", follow=True)
    assert messages_of(answer) == ["Nodes that do not have the files from there: 2 of 5."]
    text = text_of(answer)
    assert f"nfs4: {SOURCE} at /srv/plstack" in text
    assert "has them from elsewhere, old.example.net:/export (nfs4) at /srv/plstack" in text
    assert f"mount -t nfs4 {SOURCE} /srv/plstack" in text
    entry = last_entry("zone.storage")
    kept = {"dataset_cache_gib": 0}
    assert entry.before == {"kind": "folder", "source": "", **kept}
    assert entry.after == {"kind": "nfs", "source": SOURCE, **kept}
    post(ops, page("zone_storage", zone.pk), kind="nfs", source=SOURCE)
    assert count_entries("zone.storage") == 1
    post(ops, page("zone_storage", zone.pk), kind="folder", source=SOURCE)
    assert ZoneStorage.objects.get(zone=zone).source == ""


@pytest.mark.parametrize(
    "source", ["", "nas", "/export", "nas:export", "-o:/x", "nas:/a b", "nas:/a\nb", f"nas:/{'x' * 200}"]
)
def test_what_is_no_server_and_folder_is_told_beside_the_field(ops: Client, world: World, source: str) -> None:
    zone = world.node.cluster.zone
    answer = post(ops, page("zone_storage", zone.pk), kind="nfs", source=source)
    assert answer.status_code == 422
    assert answer.context["form"].errors["source"]
    assert not ZoneStorage.objects.exists()


def test_only_operators_change_it_and_simulated_zones_have_none(
    ops: Client, business: Client, root: Client, world: World
) -> None:
    zone = world.node.cluster.zone
    assert post(business, page("zone_storage", zone.pk), kind="nfs", source=SOURCE).status_code in (403, 404)
    post(root, page("zone_simulate"))
    simulated = Zone.objects.get(simulated=True)
    assert page("zone_storage", simulated.pk) not in ops.get(page("zone", simulated.pk)).content.decode()
    refused = post(ops, page("zone_storage", simulated.pk), kind="nfs", source=SOURCE)
    assert "Simulated nodes have no files" in text_of(refused)
    assert not ZoneStorage.objects.exists()


def test_the_api_does_the_same(ops: Client, business: Client, world: World) -> None:
    path = f"/api/v1/console/zones/{world.node.cluster.zone_id}/storage/"
    tells(world.node, present=False)
    assert ops.get(path).json()["kind"] == "folder"
    changed = ops.put(path, {"kind": "nfs", "source": SOURCE}, "application/json").json()
    assert (changed["kind"], changed["source"]) == ("nfs", SOURCE)
    [node] = changed["nodes"]
    assert (node["node"], node["verdict"]) == (world.node.name, "missing")
    assert node["command"] == f"mount -t nfs4 {SOURCE} /srv/plstack"
    wrong = ops.put(path, {"kind": "nfs", "source": "nas"}, "application/json")
    assert wrong.status_code in (400, 422)
    assert "source" in wrong.json()["fields"]
    assert business.put(path, {"kind": "folder"}, "application/json").status_code in (403, 404)


def test_an_operator_lets_machines_keep_copies_of_datasets(ops: Client, world: World) -> None:
    zone, path = world.node.cluster.zone, f"/api/v1/console/zones/{world.node.cluster.zone_id}/storage/"
    assert "machines keep no copies" in text_of(ops.get(page("zone", zone.pk)))
    answer = post(ops, page("zone_storage", zone.pk), kind="folder", dataset_cache_gib="200", follow=True)
    assert "Each joined machine keeps up to 200 GiB of datasets." in text_of(answer)
    entry = last_entry("zone.storage")
    assert (entry.before["dataset_cache_gib"], entry.after["dataset_cache_gib"]) == (0, 200)
    assert ops.put(path, {"kind": "folder"}, "application/json").json()["dataset_cache_gib"] == 200
    assert (
        ops.put(path, {"kind": "folder", "dataset_cache_gib": 3}, "application/json").json()["dataset_cache_gib"] == 3
    )
    for wrong in (-1, 1_000_001):
        refused = post(ops, page("zone_storage", zone.pk), kind="folder", dataset_cache_gib=wrong)
        assert refused.context["form"].errors["dataset_cache_gib"]
        refused = ops.put(path, {"kind": "folder", "dataset_cache_gib": wrong}, "application/json")
        assert "dataset_cache_gib" in refused.json()["fields"]
        with pytest.raises(Invalid), acting(platform()):
            set_zone_storage(platform(), zone_id=zone.pk, kind="folder", dataset_cache_gib=wrong)
    assert ZoneStorage.objects.get(zone=zone).dataset_cache_gib == 3
    post(ops, page("zone_storage", zone.pk), kind="folder", dataset_cache_gib="")
    assert ZoneStorage.objects.get(zone=zone).dataset_cache_gib == 0


def test_a_node_shows_what_it_keeps(ops: Client, world: World) -> None:
    node = world.node
    tells(node)
    path = f"/api/v1/console/nodes/{node.pk}/"
    assert ops.get(path).json()["dataset_cache"] is None
    told: dict[str, Any] = {"entries": [], "count": 0, "used_bytes": 0, "bytes_per_s": 0}
    Node.objects.filter(pk=node.pk).update(dataset_cache=told)
    assert "Copies of datasets" not in text_of(ops.get(page("node", node.pk)))
    ZoneStorage.objects.create(zone=node.cluster.zone, dataset_cache_gib=200)
    assert "Copies of datasets: 0, 0 B of at most 200 GiB" in text_of(ops.get(page("node", node.pk)))
    told = {**told, "count": 3, "used_bytes": 12_400_000_000, "bytes_per_s": 110_000_000}
    Node.objects.filter(pk=node.pk).update(dataset_cache=told)
    words = "Copies of datasets: 3, 12.4 GB of at most 200 GiB; the last were made at 110 MB/s"
    assert words in text_of(ops.get(page("node", node.pk)))
    shown = ops.get(path).json()["dataset_cache"]
    assert shown == {"count": 3, "used_bytes": 12_400_000_000, "bytes_per_s": 110_000_000}
