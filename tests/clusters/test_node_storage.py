"""A joined machine says whether it sees the platform's files; without them nothing new starts on it."""

import errno
import os
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.clusters.models import Node
from apps.clusters.node_storage import NodeStorage, StorageProbe, StorageProblem, probe_of
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.console.hardware.nodes.storage import storage_words
from apps.console.hardware.storage_words import probe_words, problem_words
from apps.notifications.models import Notice
from apps.workloads.hardware import watch
from apps.workloads.nodes import data_root, marker
from apps.workloads.reconcile import snapshot, topology_version
from plstack.agent import storage_probe
from plstack.agent.storage import Prober
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


# What comes of trying them


def tried(problem: str = "", write_ms: float = 4.2, free_bytes: int = 3_000_000_000) -> dict[str, Any]:
    return {"problem": problem, "write_ms": write_ms, "free_bytes": free_bytes}


def tells(joined: dict[str, Any], **probe: Any) -> None:
    seen = {**SEEN, "marker": marker(), **tried(**probe)}
    assert beat(joined["node_id"], joined["secret"], storage=seen).status_code == 200


@pytest.mark.parametrize("problem", [*StorageProblem, "something new"])
def test_a_node_whose_work_could_not_use_them_closes_until_it_can(joined: dict[str, Any], problem: str) -> None:
    tells(joined)
    assert takes_work(joined)
    tells(joined, problem=problem)
    assert not takes_work(joined)
    found = probe_of(node_of(joined))
    assert found is not None
    assert found.problem == (problem if problem in set(StorageProblem) else "failed")
    tells(joined)
    assert takes_work(joined)


def test_how_quick_it_is_is_no_news_for_the_scheduler(joined: dict[str, Any]) -> None:
    tells(joined)
    before = topology_version.digest(db_now(), False)
    tells(joined, write_ms=900.0, free_bytes=5)
    assert topology_version.digest(db_now(), False) == before
    assert node_of(joined).storage_probe == {"problem": "", "write_ms": 900.0, "free_bytes": 5}


@pytest.mark.parametrize("broken", [{"write_ms": "1"}, {"free_bytes": -1}, {"write_ms": -1.0}, {"problem": 3}])
def test_a_probe_that_makes_no_sense_counts_for_nothing(joined: dict[str, Any], broken: dict[str, Any]) -> None:
    tells(joined, **broken)
    assert node_of(joined).storage_probe == {}
    assert takes_work(joined)


def test_operators_are_told_once_of_a_node_without_storage_and_once_of_its_return(joined: dict[str, Any]) -> None:
    with acting(platform()):
        make_staff()

    def told_of() -> list[str]:
        with acting(platform()):
            watch.watch_storage(platform())
            rows = Notice.objects.filter(kind__startswith="node.storage").order_by("pk")
            return list(rows.values_list("kind", flat=True))

    tells(joined)
    assert told_of() == []
    tells(joined, problem="hangs")
    first = told_of()
    assert set(first) == {"node.storage_lost"}
    assert told_of() == first
    assert node_of(joined).storage_lost_since is not None
    tells(joined)
    both = told_of()
    assert set(both) == {"node.storage_lost", "node.storage_back"}
    assert told_of() == both
    assert node_of(joined).storage_lost_since is None
    beat(joined["node_id"], joined["secret"], **told(""))  # not there at all
    assert told_of().count("node.storage_lost") == 2 * first.count("node.storage_lost")


def test_the_pages_and_the_api_say_what_came_of_it(joined: dict[str, Any]) -> None:
    with acting(platform()):
        staff = signed_in(make_staff())
    zone = node_of(joined).cluster.zone_id
    tells(joined)
    page = staff.get(f"/console/nodes/{joined['node_id']}/").content.decode()
    assert "A file was written and read back in 4 ms; 3 GB are free." in page
    shown = staff.get(f"/api/v1/console/nodes/{joined['node_id']}/").json()["storage_probe"]
    assert shown == {"problem": None, "write_ms": 4.2, "free_bytes": 3_000_000_000}
    tells(joined, problem="denied")
    page = staff.get(f"/console/nodes/{joined['node_id']}/").content.decode()
    assert "Work cannot use the platform&#x27;s files" in page
    assert "no_root_squash" in page
    assert "no_root_squash" in staff.get(f"/console/zones/{zone}/").content.decode()
    [row] = [
        each
        for each in staff.get(f"/api/v1/console/zones/{zone}/storage/").json()["nodes"]
        if each["node"] == node_of(joined).name
    ]
    assert (row["verdict"], row["command"]) == ("unusable", "")


@pytest.mark.parametrize("problem", StorageProblem)
def test_every_problem_has_words(problem: StorageProblem) -> None:
    assert problem_words(StorageProbe(problem)).endswith(".")
    assert probe_words(StorageProbe(problem)) == probe_words(None) == ""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / ".plstack-root").write_text("one\n")
    tmp_path.chmod(0o755)
    return tmp_path


UID = 210_000 if os.geteuid() == 0 else -1


def test_a_probe_writes_and_reads_as_a_tenants_user_and_leaves_nothing(files: Path) -> None:
    found = storage_probe.probe(files, UID)
    assert (found["marker"], found["problem"]) == ("one", "")
    assert found["write_ms"] > 0
    assert found["free_bytes"] > 0
    assert list((files / ".plstack-probe").iterdir()) == []
    for name, age in (("old", 7200), ("young", 60)):  # of probes that were killed, or are under way elsewhere
        (files / ".plstack-probe" / name).mkdir()
        (files / ".plstack-probe" / name / "file").touch()
        at = time.time() - age
        os.utime(files / ".plstack-probe" / name, (at, at))
    storage_probe.probe(files, UID)
    assert [left.name for left in (files / ".plstack-probe").iterdir()] == ["young"]
    assert storage_probe.probe(files / "elsewhere", UID) == storage_probe.result()


def fails(number: int) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("call", "number", "problem"),
    [
        ("mkdir", errno.EROFS, "denied"),
        ("mkdir", errno.EACCES, "denied"),
        ("fsync", errno.ENOSPC, "full"),
        ("fsync", errno.EDQUOT, "full"),
        ("fsync", errno.EIO, "failed"),
    ],
)
def test_a_probe_says_what_is_wrong(
    files: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, problem: str
) -> None:
    monkeypatch.setattr(os, call, fails(number))
    assert storage_probe.probe(files, UID)["problem"] == problem
    monkeypatch.undo()
    assert storage_probe.probe(files, UID)["problem"] == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_probe_sees_squashed_and_mapped_owners(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "chown", fails(errno.EPERM))
    assert storage_probe.probe(files, UID)["problem"] == "denied"
    monkeypatch.undo()
    monkeypatch.setattr(os, "setuid", lambda uid: None)
    assert storage_probe.probe(files, UID)["problem"] == "other_owner"


def test_a_probe_sees_content_that_changed(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"something else")
    assert storage_probe.probe(files, UID)["problem"] == "damaged"


def test_storage_that_hangs_stops_no_agent_and_is_seen_to_be_back(files: Path) -> None:
    prober = Prober(files, timeout_s=1.0)
    (files / ".plstack-root").unlink()
    os.mkfifo(files / ".plstack-root")  # whoever reads it waits for a writer
    began = time.monotonic()
    assert prober.report()["problem"] == "hangs"
    assert prober.report()["problem"] == "hangs"
    assert time.monotonic() - began < 10
    (files / ".plstack-root").unlink()
    (files / ".plstack-root").write_text("one\n")
    again = Prober(files).report()
    assert (again["problem"], again["marker"]) == ("", "one")


def test_what_is_no_answer_of_a_probe_is_a_failed_one() -> None:
    assert storage_probe.parse("")["problem"] == "failed"
    assert storage_probe.parse('{"marker": "one"}') == storage_probe.result(marker="one")


def test_an_agent_finds_the_marker_and_the_nearest_mount(tmp_path: Path) -> None:
    assert Prober(tmp_path).report()["marker"] == ""
    (tmp_path / ".plstack-root").write_text("one\n")
    found = Prober(tmp_path).report()
    assert (found["marker"], found["root"]) == ("one", str(tmp_path.resolve()))
    assert found["kind"]
    reported = NodeStorage.reported(found)
    assert reported is not None
    assert reported.judged("one").present
    assert not reported.judged("other").present
