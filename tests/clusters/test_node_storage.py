"""A joined machine says whether it sees the platform's files; without them nothing new starts on it."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.clusters.models import Node
from apps.clusters.node_storage import NodeStorage
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.console.hardware.nodes.storage import storage_words
from apps.workloads.nodes import data_root, marker
from apps.workloads.reconcile import snapshot, topology_version
from plstack.agent import storage
from tests.builders import World, make_staff, platform, signed_in
from tests.clusters.test_joining import beat, post, token, words
from tests.clusters.test_joining import world as world

SEEN = {"kind": "nfs4", "source": "files:/data", "root": "/mnt/plstack-data"}


def told(mark: str) -> dict[str, Any]:
    return {"storage": {**SEEN, "marker": mark}}


@pytest.fixture
def joined(world: World) -> dict[str, Any]:
    answer: dict[str, Any] = post("join", words(token(world), **told(marker()))).json()
    return answer


def node_of(joined: dict[str, Any]) -> Node:
    found: Node = Node.objects.get(pk=joined["node_id"])
    return found


def takes_work(joined: dict[str, Any]) -> bool:
    with acting(platform()):
        return {each.id: each.schedulable for each in snapshot.nodes(db_now(), simulated=False)}[joined["node_id"]]


def test_a_mount_that_is_lost_closes_the_node_until_it_is_back(joined: dict[str, Any]) -> None:
    assert node_of(joined).storage == {**SEEN, "present": True}
    assert takes_work(joined)
    before = topology_version.digest(db_now(), False)
    for lost in ("", str(uuid4())):
        assert beat(joined["node_id"], joined["secret"], **told(lost)).status_code == 200
        assert not takes_work(joined)
        assert topology_version.digest(db_now(), False) != before
    assert beat(joined["node_id"], joined["secret"], **told(marker())).status_code == 200
    assert takes_work(joined)


def test_an_agent_of_before_and_a_broken_report_close_nothing(joined: dict[str, Any]) -> None:
    for report in ({}, {"storage": None}, {"storage": {"marker": 7}}, {"storage": ["nfs"]}):
        assert beat(joined["node_id"], joined["secret"], **report).status_code == 200
        assert node_of(joined).storage == {}
        assert takes_work(joined)


def test_while_the_platform_misses_its_files_itself_it_judges_nobody(joined: dict[str, Any]) -> None:
    mark = marker()
    (data_root() / ".plstack-root").unlink()
    assert beat(joined["node_id"], joined["secret"], **told(mark)).status_code == 200
    assert node_of(joined).storage == {}
    assert not (data_root() / ".plstack-root").exists()


def test_its_page_and_the_api_say_it(joined: dict[str, Any]) -> None:
    with acting(platform()):
        staff = signed_in(make_staff())
    page = staff.get(f"/console/nodes/{joined['node_id']}/").content.decode()
    assert "The platform&#x27;s files are here" in page
    assert "nfs4: files:/data at /mnt/plstack-data" in page
    beat(joined["node_id"], joined["secret"], **told(""))
    page = staff.get(f"/console/nodes/{joined['node_id']}/").content.decode()
    assert "Nothing new starts here" in page
    found = staff.get(f"/api/v1/console/nodes/{joined['node_id']}/").json()["storage"]
    assert found == {
        "present": False, "kind": "nfs4", "mounted_from": "files:/data", "mounted_at": "/mnt/plstack-data"
    }  # fmt: skip


def test_what_a_machine_says_is_cut_to_a_length_and_its_marker_is_not_kept(joined: dict[str, Any]) -> None:
    beat(joined["node_id"], joined["secret"], storage={**SEEN, "source": "x" * 9999, "marker": marker()})
    kept = node_of(joined).storage
    assert (len(kept["source"]), "marker" in kept) == (200, False)


def test_the_platforms_own_machine_tells_nothing(world: World) -> None:
    assert storage_words(world.node) is None


def test_an_agent_finds_the_marker_and_the_nearest_mount(tmp_path: Path) -> None:
    assert storage.find(tmp_path)["marker"] == ""
    (tmp_path / ".plstack-root").write_text("one\n")
    found = storage.find(tmp_path)
    assert (found["marker"], found["root"]) == ("one", str(tmp_path.resolve()))
    assert found["kind"]
    reported = NodeStorage.reported(found)
    assert reported is not None
    assert reported.judged("one").present
    assert not reported.judged("other").present
