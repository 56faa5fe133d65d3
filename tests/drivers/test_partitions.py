"""Partitions of MIG cards: made once whatever dies when, found again, taken away with their attempt, never another's.

Without an NVIDIA card this runs against `fake_nvml`: the real library's structures, names and errors.
"""

import os
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pynvml
import pytest

from apps.workloads.drivers.base import DeviceGrant, DriverError, IsolationLevel, LaunchRefused, Unsupported
from apps.workloads.drivers.local import devices, modes, nvml
from apps.workloads.drivers.local.cards import Cards
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.partitions import SETTLE_S, Partitions
from tests.drivers.fake_nvml import MIB, Died, FakeCard, Instance, install
from tests.drivers.kit import VOLUMES, Kit, eventually

REF, OTHER = str(uuid4()), str(uuid4())
SMALL, LARGE = "1g.10gb", "3g.40gb"


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> FakeCard:
    made = FakeCard(mig=pynvml.NVML_DEVICE_MIG_ENABLE)
    install(monkeypatch, made)
    return made


@pytest.fixture
def over() -> set[str]:
    """Attempts that have been proved to have ended."""
    return set()


@pytest.fixture
def partitions(tmp_path: Path, over: set[str]) -> Partitions:
    return Partitions(tmp_path / "partitions", over.__contains__)


def places(card: FakeCard) -> list[tuple[int, int]]:
    return sorted((instance.start, instance.size) for instance in card.instances)


class TestMaking:
    def test_it_lies_where_the_scheduler_said(self, card: FakeCard, partitions: Partitions) -> None:
        made = partitions.ensure(REF, card.uuid, LARGE, 4)
        assert places(card) == [(4, 4)]
        assert made.uuid == card.instances[0].compute[0].uuid
        assert (made.gpu_instance, made.compute_instance) == (card.instances[0].id, 0)

    def test_asking_again_makes_no_second_one(self, card: FakeCard, partitions: Partitions) -> None:
        assert partitions.ensure(REF, card.uuid, SMALL, 3) == partitions.ensure(REF, card.uuid, SMALL, 3)
        assert card.created == 1

    @pytest.mark.parametrize("step", ["gpu instance", "compute instance"])
    def test_a_launch_that_died_half_way_is_finished_by_the_next(
        self, card: FakeCard, partitions: Partitions, over: set[str], step: str
    ) -> None:
        card.die_after = step
        with pytest.raises(Died):
            partitions.ensure(REF, card.uuid, LARGE, 0)
        partitions.ensure(REF, card.uuid, LARGE, 0)
        assert (places(card), card.created) == ([(0, 4)], 1)
        over.add(REF)
        partitions.release(REF)
        assert card.instances == [], "and it is known to be the platform's own"

    def test_after_a_restart_of_the_machine_it_is_made_anew(self, card: FakeCard, partitions: Partitions) -> None:
        first = partitions.ensure(REF, card.uuid, SMALL, 0)
        card.instances.clear()
        card.mig = pynvml.NVML_DEVICE_MIG_DISABLE  # as cards of some generations come back
        again = partitions.ensure(REF, card.uuid, SMALL, 0)
        assert again.uuid != first.uuid
        assert card.mig == pynvml.NVML_DEVICE_MIG_ENABLE

    def test_neighbours_do_not_mind_each_other(self, card: FakeCard, partitions: Partitions) -> None:
        partitions.ensure(REF, card.uuid, SMALL, 0)
        partitions.ensure(OTHER, card.uuid, SMALL, 1)
        partitions.release(REF)
        assert places(card) == [(1, 1)]

    @pytest.mark.parametrize(("profile", "start"), [(LARGE, 1), ("9g.90gb", 0)])
    def test_what_the_card_does_not_offer_is_refused_for_good(
        self, card: FakeCard, partitions: Partitions, profile: str, start: int
    ) -> None:
        with pytest.raises(LaunchRefused, match="offers no partition"):
            partitions.ensure(REF, card.uuid, profile, start)

    def test_without_the_right_to_cut_it_says_so(
        self, card: FakeCard, partitions: Partitions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_arguments: object) -> None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)

        monkeypatch.setattr(pynvml, "nvmlDeviceCreateGpuInstanceWithPlacement", refuse)
        with pytest.raises(DriverError, match="run as root"):
            partitions.ensure(REF, card.uuid, SMALL, 0)


class TestLeaving:
    def test_what_an_ended_attempt_left_in_the_way_is_taken_away(
        self, card: FakeCard, partitions: Partitions, over: set[str]
    ) -> None:
        partitions.ensure(REF, card.uuid, LARGE, 0)
        over.add(REF)
        partitions.ensure(OTHER, card.uuid, SMALL, 2)
        assert places(card) == [(2, 1)]

    def test_the_same_place_changes_hands(self, card: FakeCard, partitions: Partitions, over: set[str]) -> None:
        partitions.ensure(REF, card.uuid, LARGE, 0)
        over.add(REF)
        partitions.ensure(OTHER, card.uuid, LARGE, 0)
        partitions.release(REF)
        assert places(card) == [(0, 4)], "what the first one leaves late is not the second one's"

    def test_a_live_attempt_is_never_pushed_out(self, card: FakeCard, partitions: Partitions) -> None:
        partitions.ensure(REF, card.uuid, LARGE, 0)
        with pytest.raises(DriverError, match="still ending"):
            partitions.ensure(OTHER, card.uuid, SMALL, 0)
        assert places(card) == [(0, 4)]

    def test_a_process_that_will_not_go_keeps_its_partition_until_it_does(
        self, card: FakeCard, partitions: Partitions, over: set[str]
    ) -> None:
        partitions.ensure(REF, card.uuid, SMALL, 0)
        card.instances[0].compute[0].processes = 1
        over.add(REF)
        partitions.release(REF)
        with pytest.raises(DriverError, match="still uses"):
            partitions.ensure(OTHER, card.uuid, SMALL, 0)
        card.instances[0].compute[0].processes = 0
        partitions.ensure(OTHER, card.uuid, SMALL, 0)
        assert card.created == 2

    def test_orphans_are_swept_once_they_have_settled(
        self, card: FakeCard, partitions: Partitions, over: set[str], tmp_path: Path
    ) -> None:
        partitions.ensure(REF, card.uuid, SMALL, 0)
        partitions.ensure(OTHER, card.uuid, SMALL, 1)
        over.add(REF)
        assert partitions.sweep() == 2, "a claim is written before its attempt can be seen"
        for path in (tmp_path / "partitions").glob("*.json"):
            os.utime(path, (time.time() - SETTLE_S - 1,) * 2)
        assert partitions.sweep() == 1
        assert places(card) == [(1, 1)]

    def test_a_card_that_is_gone_keeps_no_claim(
        self, card: FakeCard, partitions: Partitions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        partitions.ensure(REF, card.uuid, SMALL, 0)
        install(monkeypatch)
        partitions.release(REF)
        assert not list((tmp_path / "partitions").glob("*.json"))


class TestOthers:
    def test_what_an_operator_made_is_used_where_it_is_exactly_right_and_left_there(
        self, card: FakeCard, partitions: Partitions
    ) -> None:
        card.instances.append(Instance(9, pynvml.NVML_GPU_INSTANCE_PROFILE_3_SLICE, 4, 4))
        assert partitions.ensure(REF, card.uuid, LARGE, 4).gpu_instance == 9
        partitions.release(REF)
        assert places(card) == [(4, 4)]

    def test_and_otherwise_named_and_never_touched(self, card: FakeCard, partitions: Partitions) -> None:
        card.instances.append(Instance(9, pynvml.NVML_GPU_INSTANCE_PROFILE_3_SLICE, 4, 4))
        with pytest.raises(LaunchRefused, match="memory slice 4 that the platform did not make"):
            partitions.ensure(REF, card.uuid, SMALL, 5)
        assert places(card) == [(4, 4)]


class TestModes:
    def test_a_card_leaves_mig_once_what_was_left_on_it_is_gone(
        self, card: FakeCard, tmp_path: Path, over: set[str]
    ) -> None:
        cards = Cards(tmp_path, over.__contains__)
        Partitions(tmp_path / "partitions", over.__contains__).ensure(REF, card.uuid, SMALL, 0)
        with pytest.raises(DriverError, match="still has MIG instances"):
            cards.set_mode(card.uuid, "whole")
        over.add(REF)
        cards.set_mode(card.uuid, "whole")
        assert card.mig == pynvml.NVML_DEVICE_MIG_DISABLE
        cards.set_mode(card.uuid, "whole")

    def test_a_mode_that_waits_for_a_reset_is_not_there_yet(self, card: FakeCard) -> None:
        card.mig, card.needs_reset = pynvml.NVML_DEVICE_MIG_DISABLE, True
        with pytest.raises(DriverError, match="next reset"):
            modes.set_mode(card.uuid, "mig")

    def test_a_model_without_mig(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, FakeCard(profiles={}))
        modes.set_mode("GPU-0", "vgpu")
        with pytest.raises(DriverError, match="cannot be partitioned"):
            modes.set_mode("GPU-0", "mig")

    def test_a_machine_without_driver(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

        monkeypatch.setattr(pynvml, "nvmlInit", fail)
        with pytest.raises(Unsupported):
            modes.set_mode("GPU-0", "mig")


class TestGrants:
    SLICE = DeviceGrant("GPU-0", 0, "nvidia", "H100", 9728, 14, "mig", SMALL, 3)
    SHARE = DeviceGrant("GPU-0", 0, "nvidia", "H100", 20_000, 25, "vgpu")

    def test_a_program_is_pointed_at_its_own_partition_and_may_open_no_other(
        self, card: FakeCard, plain: Kit, tmp_path: Path
    ) -> None:
        cards = Cards(tmp_path, lambda ref: False)
        (made,) = cards.granted(plain.request("true", devices=(self.SLICE,)), IsolationLevel.L1).devices
        assert devices.environment([made])["CUDA_VISIBLE_DEVICES"] == card.instances[0].compute[0].uuid
        for name in ("nvidia0", "nvidiactl", "nvidia-caps/nvidia-cap30", "nvidia-caps/nvidia-cap31", "nvidia-caps/nvidia-cap99"):  # fmt: skip  # noqa: E501
            (tmp_path / "dev" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "dev" / name).touch()
        instance = tmp_path / f"proc/driver/nvidia/capabilities/gpu0/mig/gi{made.gpu_instance}"
        (instance / "ci0").mkdir(parents=True)
        (instance / "access").write_text("DeviceFileMinor: 30\nDeviceFileMode: 292\n")
        (instance / "ci0/access").write_text("DeviceFileMinor: 31\n")
        shown = {path.name for path in devices.nodes([made], tmp_path)}
        assert shown == {"nvidia0", "nvidiactl", "nvidia-cap30", "nvidia-cap31"}

    def test_a_slice_that_nothing_limits_is_not_given_out(
        self, plain: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apps.workloads.drivers.local.cards.installed_limiters", lambda: ())
        request = plain.request("true", devices=(self.SHARE,))
        with pytest.raises(LaunchRefused, match="Nothing on this machine"):
            Cards(tmp_path, lambda ref: False).granted(request, IsolationLevel.L1)

    def test_limits_by_hami(self, plain: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apps.workloads.drivers.local.cards.installed_limiters", lambda: ("hami", "mps"))
        monkeypatch.setattr(devices, "hami_library", lambda: Path("/usr/local/vgpu/libvgpu.so"))
        request = plain.request("true", devices=(self.SHARE, replace(self.SHARE, uuid="GPU-1", memory_mib=8_000)))
        granted = Cards(tmp_path, lambda ref: False).granted(request, IsolationLevel.L1).devices
        variables = devices.environment(granted, "/tmp")
        assert variables["CUDA_DEVICE_MEMORY_LIMIT_0"] == "20000m"
        assert variables["CUDA_DEVICE_MEMORY_LIMIT_1"] == "8000m"
        assert variables["CUDA_DEVICE_SM_LIMIT"] == "25"
        assert variables["LD_PRELOAD"] == "/usr/local/vgpu/libvgpu.so"
        assert not [name for name in variables if "MPS" in name]

    def test_limits_by_mps_where_work_shares_its_namespaces(self) -> None:
        variables = devices.environment([replace(self.SHARE, limiter="mps")])
        assert variables["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=20000M"
        assert variables["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "25"
        assert "LD_PRELOAD" not in variables

    def test_a_shared_card_has_no_limits(self) -> None:
        variables = devices.environment([replace(self.SHARE, mode="shared")])
        assert not [name for name in variables if "LIMIT" in name or "MPS" in name]


class TestLife:
    """The whole way with the local driver: from the launch to what is left of it."""

    def test_from_launch_to_end(self, card: FakeCard, plain: Kit, home: Path) -> None:
        driver = LocalDriver(home, plain.driver.isolation().level, False, volumes=VOLUMES)
        program = "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])"
        request = plain.python(program, devices=(TestGrants.SLICE,))
        handle = driver.launch(request)
        made = card.instances[0].compute[0].uuid
        driver.launch(request)
        assert card.created == 1
        eventually(lambda: driver.observe(handle), lambda seen: seen.phase.is_final)
        assert driver.logs(handle).data.decode().split()[-1] == made
        assert card.instances == []
        assert driver.sweep_partitions() == 0


class TestFigures:
    def test_a_partition_tells_its_memory_and_not_its_work(self, card: FakeCard, partitions: Partitions) -> None:
        made = partitions.ensure(REF, card.uuid, SMALL, 0)
        grant = replace(TestGrants.SLICE, mig_uuid=made.uuid)
        assert nvml.sample([grant]) == nvml.GpuSample(None, 1234, 44, 1234)

    def test_on_a_card_with_neighbours_only_its_own_processes_count(self, card: FakeCard) -> None:
        card.processes = [Process(7, 3_000, 12), Process(8, 9_000, 60)]
        found = nvml.sample([TestGrants.SHARE], lambda: {7})
        assert found == nvml.GpuSample(48.0, 3_000, 44, 3_000), "12 % of the card are 48 % of a quarter of it"

    def test_a_whole_card_is_measured_as_a_whole(self, card: FakeCard) -> None:
        card.processes = [Process(8, 9_000, 60)]
        found = nvml.sample([replace(TestGrants.SHARE, mode="whole", cores_pct=100)], lambda: {7})
        assert found == nvml.GpuSample(31.0, 600, 44, 600)


class Process:
    """One line of what the library tells of a card's processes: memory in bytes, per cent of the card's time."""

    def __init__(self, pid: int, memory_mib: int, sm: int) -> None:
        self.pid, self.usedGpuMemory, self.sm = pid, memory_mib * MIB, sm
