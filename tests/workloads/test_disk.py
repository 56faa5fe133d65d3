"""What a run may hold on disk, and what becomes of it and of its machine when that is too much."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import LazySettings

from apps.clusters.models import Node
from apps.common.errors import Unavailable
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.storage import disk
from apps.workloads import faults
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import Exit, ExitReason
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import watch
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.reconcile.outcome import why_of
from apps.workloads.spec import DataMount, Spec
from tests.builders import World, make_staff, platform, submit_workload
from tests.workloads.loops import until

FILLS = "open('/tmp/x', 'wb').write(b'x' * 8 * 2**20); import time; time.sleep(60)"
FULL = {"f_files": 1000, "f_favail": 99}


def is_over(workload: Workload) -> bool:
    return workload.status in {Status.SUCCEEDED, Status.FAILED, Status.STOPPED}


@pytest.mark.programs
def test_a_run_above_its_limit_fails_in_words(world: World, settings: LazySettings) -> None:
    settings.RUN_SCRATCH_MIB = 4
    source = FILLS.replace("'/tmp/x'", "__import__('tempfile').gettempdir() + '/x'")
    with acting(world.actor):
        workload = submit_workload(world, argv=("python", "-c", source))
    until(workload, is_over)
    assert (workload.status, workload.reason, workload.fault) == (Status.FAILED, Reason.DISK_LIMIT, Fault.USER)
    card = faults.card(workload, Attempt.objects.get(workload=workload))
    assert card is not None
    assert card["text"] == "Its files in /tmp take more than the 4 MiB that it may hold there."
    assert card["verdict"]
    assert len(card["fixes"]) == 2


@pytest.mark.parametrize("reason", list(ExitReason))
def test_every_way_to_end_has_a_reason_and_whose_matter_it_is(reason: ExitReason) -> None:
    why = why_of(Exit(None, None, reason, output="detail"), Workload(status=Status.RUNNING))
    assert why.reason in Reason
    assert why.fault in {Fault.USER, Fault.PLATFORM, Fault.NODE}


@pytest.mark.parametrize("reason", [Reason.DISK_LIMIT, Reason.FILE_LIMIT, Reason.DISK_FULL])
def test_what_to_do_is_said(reason: Reason) -> None:
    said = Said(Code.DISK_FULL)
    data = {"detail": str(said), "said": said.as_json()}
    advice = faults.advise(Workload(status=Status.FAILED, reason=reason, reason_data=data, fault=Fault.USER))
    assert advice.text == f"{said}."
    assert advice.verdict
    assert advice.fixes


def test_the_settings_and_the_mounts_limits_reach_the_driver(world: World, settings: LazySettings) -> None:
    settings.RUN_SCRATCH_MIB, settings.RUN_FILES, settings.RUN_LOG_MIB = 11, 22, 33
    with acting(world.actor):
        workload = submit_workload(world)
    spec = workload.frozen_spec.as_json() | {"mounts": [{"source": "a", "target": "/a", "limit_mib": 44}]}
    workload = Workload.objects.get(pk=workload.pk)
    workload.spec = spec
    node = Node.objects.get(driver="local")
    request = launch_request(Attempt(workload=workload, node=node, number=1))
    assert (request.disk.scratch_mib, request.disk.files, request.disk.log_mib) == (11, 22, 33)
    assert [mount.limit_mib for mount in request.mounts] == [44]


def test_a_spec_of_before_there_were_limits_is_still_read() -> None:
    data = {"argv": ["true"], "cpu_milli": 1, "memory_mib": 1, "env": {}, "workdir": "/w", "network": False}
    data |= {"image": {"name": "x", "requirements": []}}
    spec = Spec.from_json(data | {"mounts": [{"source": "a", "target": "/a", "read_only": False}]})
    assert spec.mounts == (DataMount("a", "/a", False, None),)


@pytest.fixture
def node(world: World) -> Node:
    make_staff()
    return Node.objects.get(driver="local")


@pytest.mark.parametrize(
    "columns", [{"disk_mib": 1000, "disk_free_mib": 99}, {"disk_files": 1000, "disk_files_free": 99}]
)
def test_a_disk_that_is_nearly_full_is_told_once_and_so_is_its_end(node: Node, columns: dict[str, int]) -> None:
    def tell(**values: int) -> list[str]:
        Node.objects.filter(pk=node.pk).update(**values)
        watch.watch_disks(platform())
        kinds = Notice.objects.filter(kind__startswith="node.disk").order_by("pk")
        return list(dict.fromkeys(kinds.values_list("kind", flat=True)))

    free = next(name for name in columns if "free" in name)
    assert tell(disk_mib=1000, disk_free_mib=500, disk_files=0, disk_files_free=0) == []
    assert tell(**columns) == ["node.disk_low"]
    first = Notice.objects.count()
    assert tell(**{free: 90}) == ["node.disk_low"]
    assert tell(**{free: 120}) == ["node.disk_low"]  # not far enough away to be over
    assert Notice.objects.count() == first
    assert tell(**{free: 200}) == ["node.disk_low", "node.disk_ok"]
    node.refresh_from_db()
    assert node.disk_low_since is None


def test_nothing_new_is_taken_where_hardly_a_file_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = [SimpleNamespace(**FULL)]
    monkeypatch.setattr(disk, "os", SimpleNamespace(statvfs=lambda path: seen[0]))
    with pytest.raises(Unavailable, match="further files"):
        disk.require_free_space()
    seen[0] = SimpleNamespace(f_files=1000, f_favail=500)
    disk.require_free_space()
    seen[0] = SimpleNamespace(f_files=0, f_favail=0)  # a file system that knows no such number
    disk.require_free_space()
