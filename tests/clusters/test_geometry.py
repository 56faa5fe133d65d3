"""What a card may be cut into is discovered on the card; the table serves only where nobody could look."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pynvml
import pytest

import scheduler
from apps.clusters import amd, geometry, limiters, nvidia, services
from apps.clusters.cards import Card, MigCut
from apps.clusters.discovery import Machine
from apps.clusters.models import Accelerator
from apps.common.scoping import acting
from scheduler.mig import table_for
from tests.builders import platform
from tests.drivers.fake_nvml import FakeCard, install

CUT = MigCut("2g.20gb", (0, 2, 4), 2, 2, 19_968, 3)


def machine(*cards: Card, limits: tuple[str, ...] = ()) -> Machine:
    return Machine("box", "x86_64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {"os": "Linux"}, cards, limits)


def written(monkeypatch: pytest.MonkeyPatch, found: Machine, level: str = "L1") -> Accelerator:
    with acting(platform()):
        services.upsert_machine(platform(), driver="local", machine=found, isolation=level, isolation_reason="")
    return Accelerator.objects.get()


def h100(**fields: Any) -> Card:
    return Card("GPU-1", 0, "nvidia", "H100 80GB HBM3", 81_559, **fields)


class TestNvidia:
    def test_profiles_and_places_are_the_drivers_and_agree_with_the_table(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(monkeypatch, FakeCard())
        (card,) = nvidia.cards()
        assert card.mig_cuts is not None
        found = {cut.name: (cut.starts, cut.size, cut.compute, cut.maximum) for cut in card.mig_cuts}
        table = {p.name: (p.starts, p.size, p.compute, p.maximum) for p in table_for("H100 80GB HBM3", 81_559)}
        assert found == table
        assert {cut.name: cut.memory_mib for cut in card.mig_cuts}["1g.10gb"] == 9728

    def test_an_older_driver_names_none_and_they_are_named_by_the_same_rule(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(monkeypatch, FakeCard(names=False))
        (card,) = nvidia.cards()
        names = {cut.name for cut in card.mig_cuts or ()}
        assert names == {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}

    def test_a_card_without_mig_has_no_profiles(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, FakeCard(profiles={}))
        (card,) = nvidia.cards()
        assert (card.mig_cuts, card.mig) == ((), False)

    def test_who_may_not_ask_has_not_been_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, FakeCard(privileged=False))
        assert next(nvidia.cards()).mig_cuts is None

    def test_only_some_profiles_are_on_offer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Hypervisors and later drivers offer others than the table knows."""
        odd = {pynvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE: (2, 19_968, 1, [(4, 2)])}
        install(monkeypatch, FakeCard(profiles=odd))
        assert [(cut.name, cut.starts) for cut in next(nvidia.cards()).mig_cuts or ()] == [("2g.20gb", (4,))]


@pytest.mark.django_db
class TestRows:
    def test_discovery_wins_over_the_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        card = written(monkeypatch, machine(h100(mig_cuts=(CUT,))))
        assert [profile.name for profile in geometry.profiles(card)] == ["2g.20gb"]
        device = geometry.device(card)
        assert device.mig_profiles == (scheduler.MigProfile("2g.20gb", (0, 2, 4), 2, 2, 19_968, 3),)

    def test_what_nobody_could_ask_comes_from_the_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        card = written(monkeypatch, machine(h100(mig_cuts=None)))
        assert not geometry.is_discovered(card)
        assert geometry.profiles(card) == table_for(card.model, card.memory_mib)

    def test_a_card_that_says_it_has_none_has_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        card = written(monkeypatch, machine(h100(mig_cuts=())))
        assert not geometry.can_mig(card)
        assert geometry.device(card).mig_profiles == ()

    @pytest.mark.parametrize(
        "nonsense",
        [
            replace(CUT, starts=(7,)),
            replace(CUT, starts=()),
            replace(CUT, size=0),
            replace(CUT, starts=(-1,)),
            replace(CUT, name=""),
            replace(CUT, maximum="many"),  # type: ignore[arg-type]
        ],
    )
    def test_a_geometry_that_cannot_be_is_not_believed(self, monkeypatch: pytest.MonkeyPatch, nonsense: MigCut) -> None:
        card = written(monkeypatch, machine(h100(mig_cuts=(CUT, nonsense))))
        assert card.mig_profiles is None
        assert geometry.profiles(card) == table_for(card.model, card.memory_mib)

    def test_a_card_that_was_cut_by_hand_is_given_out_no_more_until_the_platform_knows(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert written(monkeypatch, machine(h100())).healthy
        assert not written(monkeypatch, machine(h100(mig=True))).healthy
        Accelerator.objects.update(mode="mig")
        assert written(monkeypatch, machine(h100(mig=True))).healthy

    def test_it_travels_from_an_agent(self) -> None:
        told = machine(h100(mig_cuts=(CUT,)), limits=("hami",))
        assert Machine.from_json(asdict(told)) == told


@pytest.mark.django_db
class TestLimits:
    @pytest.mark.parametrize(
        ("there", "level", "expected"),
        [
            (("hami", "mps"), "L1", "hami"),
            (("mps",), "L0", "mps"),
            (("mps",), "L1", ""),  # a sandbox's own IPC namespace keeps its work from the daemon
            ((), "L0", ""),
        ],
    )
    def test_what_limits_slices_is_what_works_there(
        self, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], level: str, expected: str
    ) -> None:
        assert written(monkeypatch, machine(h100(), limits=there), level).limiter == expected

    def test_a_vgpu_card_gives_nothing_out_once_nothing_limits_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        card = written(monkeypatch, machine(h100(), limits=("hami",)))
        card.mode = "vgpu"
        assert geometry.device(card).healthy
        card.limiter = ""
        assert not geometry.device(card).healthy
        card.mode = "shared"
        assert geometry.device(card).healthy

    def test_libraries_and_daemons_are_found_by_looking(self, tmp_path: Path) -> None:
        assert limiters.installed_limiters(tmp_path) == ()
        library = tmp_path / "usr/local/vgpu/libvgpu.so"
        library.parent.mkdir(parents=True)
        library.touch()
        assert limiters.hami_library(tmp_path) is None, "an installation that failed left an empty file"
        library.write_bytes(b"\x7fELF")
        (tmp_path / "tmp/nvidia-mps").mkdir(parents=True)
        assert limiters.installed_limiters(tmp_path) == ("hami",)
        (tmp_path / "tmp/nvidia-mps/control").touch()
        assert limiters.installed_limiters(tmp_path) == ("hami", "mps")


class TestAmd:
    def test_cards_and_their_partition_are_read_from_sysfs(self, tmp_path: Path) -> None:
        device = tmp_path / "sys/devices/pci0000:00/0000:0c:00.0"
        files = {
            "vendor": "0x1002\n", "device": "0x74a1\n", "unique_id": "9f3a\n",
            "mem_info_vram_total": f"{192 * 2**30}\n",
            "mem_info_vram_used": f"{2**30}\n", "gpu_busy_percent": "37\n", "product_name": "AMD Instinct MI300X\n",
            "current_compute_partition": "CPX\n", "hwmon/hwmon3/temp1_input": "51000\n",
        }  # fmt: skip
        for name, text in files.items():
            (device / name).parent.mkdir(parents=True, exist_ok=True)
            (device / name).write_text(text)
        drm = tmp_path / "sys/class/drm"
        drm.mkdir(parents=True)
        (drm / "card1").mkdir()
        (drm / "card1/device").symlink_to(device)
        (drm / "card1-DP-1").mkdir()
        (card,) = amd.cards(tmp_path)
        assert (card.uuid, card.vendor, card.model) == ("GPU-9f3a", "amd", "AMD Instinct MI300X")
        assert (card.memory_mib, card.memory_used_mib, card.utilisation_pct) == (196_608, 1024, 37.0)
        assert (card.temperature_c, card.partition, card.mig_cuts) == (51, "CPX", ())

    def test_other_vendors_and_no_driver_are_left_out(self, tmp_path: Path) -> None:
        assert list(amd.cards(tmp_path)) == []
        card = tmp_path / "sys/class/drm/card0/device"
        card.mkdir(parents=True)
        (card / "vendor").write_text("0x10de\n")
        assert list(amd.cards(tmp_path)) == []
