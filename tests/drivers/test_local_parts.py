"""Parts of the local driver that need no process: grants, rewriting, accounts, control groups, stop requests."""

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch
from uuid import UUID, uuid4

import pynvml
import pytest

from apps.workloads.drivers.base import DeviceGrant, IsolationLevel, Mount, Usage
from apps.workloads.drivers.local import accounts, cgroups, devices, environment, nvml, preemption_notice, stopping
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.metrics import read_metrics
from apps.workloads.drivers.local.records import RunDirectory, RunSpec, decode_spec, encode_spec
from apps.workloads.drivers.local.supervise import Supervisor
from apps.workloads.drivers.local.volumes import HostMount, resolve
from apps.workloads.drivers.request import DATA
from tests.drivers.kit import VOLUMES, Kit, eventually

WHOLE = DeviceGrant("GPU-a", 0, "nvidia", "H200", 143_771, 100, "whole")
SHARE = DeviceGrant("GPU-b", 1, "nvidia", "H200", 20_000, 25, "vgpu", limiter="mps")
SLICE = DeviceGrant("MIG-c", 2, "nvidia", "H200", 18_000, 14, "mig")


class TestGrants:
    def test_without_a_grant_no_card_is_visible(self) -> None:
        variables = devices.environment([])
        assert variables["CUDA_VISIBLE_DEVICES"] == ""
        assert variables["NVIDIA_VISIBLE_DEVICES"] == "void"
        assert variables["ROCR_VISIBLE_DEVICES"] == ""

    def test_whole_cards_and_slices_are_named_by_uuid_without_limits(self) -> None:
        variables = devices.environment([WHOLE, SLICE])
        assert variables["CUDA_VISIBLE_DEVICES"] == "GPU-a,MIG-c"
        assert not [name for name in variables if "MPS" in name]

    def test_the_workload_cannot_choose_its_cards_itself(self, plain: Kit, tmp_path: Path) -> None:
        request = plain.request("true", devices=(WHOLE,), env={"CUDA_VISIBLE_DEVICES": "0,1,2"})
        spec = RunSpec(request, plain.driver.isolation().level, None, False, str(tmp_path))
        made = environment.command(spec, RunDirectory(tmp_path), tmp_path / "runtime")
        assert made.env["CUDA_VISIBLE_DEVICES"] == "GPU-a"

    def test_nodes_of_granted_cards_only_and_by_their_own_number(self, tmp_path: Path) -> None:
        for name in ("nvidia0", "nvidia1", "nvidia7", "nvidiactl", "nvidia-uvm"):
            (tmp_path / "dev").mkdir(exist_ok=True)
            (tmp_path / "dev" / name).touch()
        information = tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0/information"
        information.parent.mkdir(parents=True)
        information.write_text("Model: \t H200\nGPU UUID: \t GPU-a\nDevice Minor: \t 7\n")
        assert {path.name for path in devices.nodes([WHOLE], tmp_path)} == {"nvidia7", "nvidiactl", "nvidia-uvm"}
        assert devices.nodes([], tmp_path) == []

    def test_amd_and_ascend(self, tmp_path: Path) -> None:
        amd = DeviceGrant("GPU-d", 0, "amd", "MI300X", 196_608, 100, "whole")
        ascend = DeviceGrant("NPU-e", 3, "huawei", "910B", 65_536, 100, "whole")
        variables = devices.environment([amd, ascend])
        assert variables["ROCR_VISIBLE_DEVICES"] == "GPU-d"
        assert variables["HIP_VISIBLE_DEVICES"] == "0"
        assert variables["ASCEND_RT_VISIBLE_DEVICES"] == "3"


class TestCards:
    def test_a_machine_without_driver_is_quiet(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

        monkeypatch.setattr(pynvml, "nvmlInit", fail)
        assert nvml.sample([WHOLE]) is None

    def test_their_usage_is_added_to_what_is_seen_and_remembered(self, plain: Kit, home: Path) -> None:
        driver = LocalDriver(
            home,
            plain.driver.isolation().level,
            False,
            lambda *_: nvml.GpuSample(87.5, 12_345, 61, 12_345),
            volumes=VOLUMES,
        )
        handle = driver.launch(plain.python("import time; time.sleep(60)", devices=(WHOLE,)))
        seen = eventually(lambda: driver.observe(handle), lambda seen: seen.usage is not None)
        assert (seen.usage.gpu_util_pct, seen.usage.gpu_memory_mib) == (87.5, 12_345)
        assert seen.usage.gpu_temperature_c == 61
        assert driver.metrics(handle)[-1].gpu_memory_mib == 12_345
        assert driver.metrics(handle)[-1].gpu_temperature_c == 61
        driver.stop(handle, 0)
        eventually(lambda: driver.observe(handle), lambda seen: seen.phase.is_final)

    def test_an_old_sample_is_not_held_for_a_new_one(self, tmp_path: Path) -> None:
        run = RunDirectory(tmp_path)
        run.metrics.write_text(
            '{"at_s": 1, "cpu_milli": 5, "memory_mib": 6}\n{"at_s": 500, "cpu_milli": 5, "memory_mib": 6}\n{"at_'
        )
        run.gpu_metrics.write_text('{"at_s": 0.5, "gpu_util_pct": 50.0, "gpu_memory_mib": 7}\n')
        assert read_metrics(run, 0) == [Usage(1, 5, 6, 50.0, 7), Usage(500, 5, 6)]


class TestRewriting:
    PLACES = {"/workspace/code": "/host/a", "/workspace/code2": "/host/b", "/workspace": "/host/w", "/数据": "/host/中"}

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("/workspace/code/train.py", "/host/a/train.py"),
            ("--data=/workspace/code2:/workspace/code", "--data=/host/b:/host/a"),
            ("cd /workspace && ls '/workspace/code'", "cd /host/w && ls '/host/a'"),
            ("/数据/x", "/host/中/x"),
            ("/home/workspace/code", "/home/workspace/code"),
            ("/workspace/codes", "/host/w/codes"),
            ("/workspaces", "/workspaces"),
            ("nothing", "nothing"),
        ],
    )
    def test_targets_become_sources_where_they_are_whole_paths(self, text: str, expected: str) -> None:
        assert environment.rewriter(self.PLACES)(text) == expected

    def test_a_source_that_contains_a_target_is_left_alone(self) -> None:
        assert environment.rewriter({"/a": "/b", "/b": "/a"})("/a:/b") == "/b:/a"

    @pytest.mark.parametrize(
        ("target", "name"), [("/workspace/code", "PLSTACK_CODE"), ("/data/my-set", "PLSTACK_MY_SET")]
    )
    def test_the_variable_of_a_mount(self, target: str, name: str) -> None:
        assert environment.variable_name(target) == name


class TestAccounts:
    def test_a_tenant_keeps_its_user_id(self, tmp_path: Path) -> None:
        registry = tmp_path / "uids.json"
        first, second = uuid4(), uuid4()
        assert accounts.uid_of(first, registry) == 210_000
        assert accounts.uid_of(second, registry) == 210_001
        assert accounts.uid_of(first, registry) == 210_000

    def test_tenants_that_come_together_get_different_ids(self, tmp_path: Path) -> None:
        tenants = [uuid4() for _ in range(20)]
        with ThreadPoolExecutor(8) as pool:
            uids = list(pool.map(lambda tenant: accounts.uid_of(tenant, tmp_path / "uids.json"), tenants * 2))
        assert uids[:20] == uids[20:]
        assert len(set(uids)) == 20

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_giving_a_folder_does_not_follow_links(self, tmp_path: Path) -> None:
        outside, inside = tmp_path / "outside", tmp_path / "inside"
        outside.write_text("")
        (inside / "below").mkdir(parents=True)
        (inside / "below" / "link").symlink_to(outside)
        accounts.give(inside, 210_000)
        assert outside.stat().st_uid == 0
        assert (inside / "below").stat().st_uid == 210_000
        assert (inside / "below" / "link").lstat().st_uid == 210_000


class TestControlGroups:
    def test_version_2_is_limited_through_its_own_files(self, tmp_path: Path) -> None:
        group_files = tmp_path / "plstack" / "x"
        group_files.mkdir(parents=True)
        for name in ("memory.max", "memory.swap.max", "memory.oom.group", "cpu.max", "pids.max"):
            (group_files / name).touch()
        tree = cgroups.Hierarchy(2, dict.fromkeys(("memory", "cpu", "pids"), tmp_path))
        made = cgroups.create("x", 256, 1500, tree)
        assert made is not None
        assert made.limits == {"memory", "cpu", "pids"}
        assert (group_files / "memory.max").read_text() == str(256 * 1024**2)
        assert (group_files / "cpu.max").read_text() == "150000 100000"
        assert (tmp_path / "cgroup.subtree_control").exists()

    def test_a_memory_limit_that_does_not_hold_is_no_group(self, tmp_path: Path) -> None:
        assert cgroups.create("x", 256, 1000, cgroups.Hierarchy(2, {"memory": tmp_path})) is None
        assert not (tmp_path / "plstack" / "x").exists()

    @pytest.mark.parametrize(
        ("table", "version"),
        [
            ("cgroup {root}/one cgroup rw,memory 0 0\ncgroup {root}/one cgroup rw,cpu,cpuacct 0 0\n", 1),
            ("cgroup2 {root}/two cgroup2 rw 0 0\n", 2),
            ("cgroup2 {root}/one cgroup2 rw 0 0\ncgroup {root}/one cgroup rw,memory 0 0\n", 1),
            ("proc /proc proc rw 0 0\n", None),
        ],
    )
    def test_the_hierarchy_with_the_memory_controller_is_taken(
        self, tmp_path: Path, table: str, version: int | None
    ) -> None:
        (tmp_path / "one").mkdir()
        (tmp_path / "two").mkdir()
        (tmp_path / "two" / "cgroup.controllers").write_text("cpu memory pids\n")
        (tmp_path / "mounts").write_text(table.format(root=tmp_path))
        found = cgroups.hierarchy(tmp_path / "mounts")
        assert (found.version if found else None) == version


def test_what_a_program_says_is_not_read_before_it_is_known_to_run(plain: Kit, tmp_path: Path) -> None:
    """The supervisor was held up meanwhile, and finds both at once."""
    order: list[str] = []

    class Told(Journal):
        def begin_running(self) -> None:
            order.append("runs")

        def append(self, data: bytes) -> None:
            order.append(data.decode())

    run = RunDirectory(tmp_path)
    spec = RunSpec(plain.request("true"), IsolationLevel.L0, None, False, str(tmp_path))
    supervisor = Supervisor(spec, Told(run), stopping.StopFile(run.stop), None)
    (ours, theirs), (output, inlet) = socket.socketpair(), os.pipe()
    os.write(inlet, b"said")
    theirs.sendall(b'{"started": true}\n')
    with patch.object(Supervisor, "_is_over", lambda _: len(order) > 1), ours, theirs:
        supervisor._converse(Mock(), ours, output, environment.Command(("true",), {}, "/", "/"))
    for descriptor in (output, inlet):
        os.close(descriptor)
    assert order == ["runs", "said"]


class TestStopRequests:
    def test_repeating_never_lengthens_and_may_shorten_the_grace(self, tmp_path: Path) -> None:
        now = 100.0
        stop = stopping.StopFile(tmp_path / "stop", lambda: now)
        assert not stop.is_asked()
        stopping.ask(tmp_path / "stop", 30)
        assert stop.is_asked()
        now = 120.0
        stopping.ask(tmp_path / "stop", 30)
        assert stop.is_asked()
        now = 130.0
        assert stop.is_due()
        now = 125.0
        assert not stop.is_due()
        stopping.ask(tmp_path / "stop", 1)
        stop.is_asked()
        now = 126.0
        assert stop.is_due()


def test_a_specification_survives_its_file(plain: Kit) -> None:
    request = plain.request("echo", "你好", env={"A": "b"}, devices=(WHOLE, SHARE), network=True)
    spec = RunSpec(
        replace(request, mounts=(Mount(DATA, "a", "/b", read_only=True),)),
        plain.driver.isolation().level,
        210_000,
        True,
        "/h",
        mounts=(HostMount("/data/a", "/b", read_only=True),),
    )
    assert decode_spec(encode_spec(spec)) == spec
    assert isinstance(decode_spec(encode_spec(spec)).request.attempt_id, UUID)


def test_a_specification_of_before_mounts_named_volumes_is_read(plain: Kit) -> None:
    spec = RunSpec(plain.request("true"), IsolationLevel.L0, None, True, "/h")
    data = json.loads(encode_spec(spec))
    del data["mounts"]
    data["request"]["mounts"] = [{"source": "/a", "target": "/b", "read_only": True, "limit_mib": 7}]
    assert decode_spec(json.dumps(data).encode()).mounts == (HostMount("/a", "/b", read_only=True, limit_mib=7),)


class TestCheckpoints:
    def test_the_newest_file_counts_and_never_lies_in_the_future(self, tmp_path: Path) -> None:
        (tmp_path / "a/b").mkdir(parents=True)
        (tmp_path / "a/b/old").touch()
        newest = tmp_path / "new"
        newest.touch()
        changed = newest.stat().st_ctime
        assert preemption_notice.newest_age_s(tmp_path, changed + 7) == pytest.approx(7, abs=0.01)
        assert preemption_notice.newest_age_s(tmp_path, changed - 60) == 0.0

    def test_links_and_empty_folders_are_no_checkpoints(self, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside/file").touch()
        inside = tmp_path / "inside"
        (inside / "empty").mkdir(parents=True)
        (inside / "link").symlink_to(tmp_path / "outside/file")
        (inside / "folder").symlink_to(tmp_path / "outside")
        assert preemption_notice.newest_age_s(inside) is None
        assert preemption_notice.newest_age_s(inside / "folder") is None
        assert preemption_notice.newest_age_s(tmp_path / "missing") is None

    def test_only_folders_that_the_program_may_write_to_are_looked_at(self, plain: Kit) -> None:
        def folder(path: str) -> Path | None:
            return preemption_notice.checkpoint_folder(spec(env={"PLSTACK_CHECKPOINTS": path}))

        def spec(**changes: Any) -> RunSpec:
            request = plain.request("true", **changes)
            mounts = resolve(request.mounts, VOLUMES)
            return RunSpec(request, IsolationLevel.L0, None, False, "/h", mounts=mounts)

        assert folder("/workspace/output/checkpoints") == plain.output / "checkpoints"
        assert folder("/workspace/output/../../etc") is None
        assert folder("/workspace/code/x") is None
        assert folder("") is None
        assert preemption_notice.checkpoint_folder(spec()) is None
