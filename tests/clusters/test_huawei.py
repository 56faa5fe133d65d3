"""Ascend cards as npu-smi tells of them, from output that was recorded on real machines."""

from pathlib import Path

import pytest

from apps.clusters import huawei, npu_smi, services
from apps.clusters.discovery import Machine, measure_machine
from apps.clusters.huawei import Ascend, AscendReport, NoAnswer
from apps.clusters.models import Accelerator
from apps.common.scoping import acting
from scheduler.ascend import templates_of
from tests.builders import platform
from tests.clusters import npu_smi_outputs as told

MIB_910B = 65_536


def machine(info: str, chips: str, board: str = "") -> Ascend:
    """One whose npu-smi prints these."""

    def ask(*arguments: str) -> str:
        if arguments == ("info",):
            return info
        return chips if arguments == ("info", "-m") else board

    return Ascend(ask, "a1b2")


class TestCards:
    def test_a_card_of_one_chip_with_memory_of_its_own(self) -> None:
        found = machine(told.INFO_910B3, told.MAP_910B3, told.BOARD_910B).look()
        assert found.trouble == ""
        first, second = found.cards
        assert (first.vendor, first.model, first.index, first.memory_mib) == ("huawei", "Ascend 910B3", 0, MIB_910B)
        assert (first.utilisation_pct, first.memory_used_mib) == (7.0, 53_984)
        assert (first.temperature_c, first.power_w, first.healthy) == (43, 101.8, True)
        assert first.uuid == "NPU-42C711D4-20B03704-4A10C8D4-14CC040A-D2102003"
        assert (second.index, second.memory_used_mib) == (1, 3314)

    def test_its_templates_are_those_of_the_model_that_was_found(self) -> None:
        (first, *_rest) = machine(told.INFO_910B3, told.MAP_910B3).look().cards
        assert templates_of(first.model) == ("vir05_1c_16g", "vir10_3c_32g")

    def test_a_board_of_two_chips_is_two_cards(self) -> None:
        found = machine(told.INFO_910C, told.MAP_910C).look()
        assert [(card.index, card.model, card.power_w) for card in found.cards] == [
            (4, "Ascend 910", 176.3),
            (5, "Ascend 910", None),
        ]
        assert len({card.uuid for card in found.cards}) == 2
        assert templates_of(found.cards[0].model) == ()

    def test_without_hbm_the_memory_is_the_other_one(self) -> None:
        found = machine(told.INFO_310P, told.MAP_310P, told.BOARD_310P).look()
        assert [(card.model, card.memory_mib, card.memory_used_mib) for card in found.cards] == [
            ("Ascend 310P3", 44_280, 16_302),
            ("Ascend 310P3", 43_693, 15_543),
        ]
        assert {card.power_w for card in found.cards} == {None}
        assert found.cards[0].uuid == "NPU-409921D4-2140A100-E54BDDD4-07CC040A-9B00301F"

    def test_a_chip_that_does_not_tell_its_die_is_named_by_its_machine_and_place(self) -> None:
        found = machine(told.INFO_310P, told.MAP_310P, "Die ID : NA\n").look()
        assert [card.uuid for card in found.cards] == ["NPU-a1b2-1-0", "NPU-a1b2-1-1"]

    def test_what_it_is_called_is_asked_once(self) -> None:
        asked: list[tuple[str, ...]] = []
        outputs = {("info",): told.INFO_910B3, ("info", "-m"): told.MAP_910B3}

        def ask(*arguments: str) -> str:
            asked.append(arguments)
            return outputs.get(arguments, told.BOARD_910B)

        here = Ascend(ask)
        assert here.look() == here.look()
        assert asked.count(("info", "-t", "board", "-i", "1", "-c", "0")) == 1

    @pytest.mark.parametrize("name", ["910B3", "Ascend910B3", "Ascend 910B3"])
    def test_one_model_has_one_name(self, name: str) -> None:
        assert huawei.model_name(name) == "Ascend 910B3"


class TestNonsense:
    def test_an_ill_chip_is_named_and_takes_no_work(self) -> None:
        found = machine(told.INFO_310B, told.MAP_310B).look()
        assert [card.healthy for card in found.cards] == [False]
        assert found.trouble == "NPU 0 chip 0: health Alarm"

    def test_a_chip_that_only_warns_goes_on(self) -> None:
        (card,) = machine(told.INFO_310B.replace("Alarm  ", "Warning"), told.MAP_310B).look().cards
        assert card.healthy

    @pytest.mark.parametrize(
        ("was", "becomes", "cause"),
        [
            ("53984/ 65536", "0    / 0    ", "told to have 0 MiB of memory"),
            ("53984/ 65536", "1 / 99999999999", "told to have 99999999999 MiB of memory"),
            ("7           0    / 0          53984/ 65536", "7", "without a memory"),
            ("0     910B3 ", "0           ", "without a name"),
        ],
    )
    def test_one_that_tells_nonsense_is_left_out_alone(self, was: str, becomes: str, cause: str) -> None:
        found = machine(told.INFO_910B3.replace(was, becomes, 1), told.MAP_910B3).look()
        assert [card.index for card in found.cards] == [1]
        assert found.trouble == f"NPU 0 chip 0: {cause}"

    def test_measures_that_cannot_be_are_not_told(self) -> None:
        odd = told.INFO_910B3.replace("101.8       43 ", "-5          999", 1).replace("| 7   ", "| 130 ", 1)
        first = machine(odd.replace("53984/ 65536", "99999/ 65536"), told.MAP_910B3).look().cards[0]
        measures = first.power_w, first.temperature_c, first.utilisation_pct, first.memory_used_mib
        assert measures == (None, None, None, None)
        assert first.memory_mib == MIB_910B

    def test_a_chip_without_a_state_and_one_with_two(self) -> None:
        halved = told.INFO_910B3.replace("| 1     910B3", "| 0     910B3")
        found = machine(halved, told.MAP_910B3).look()
        assert found.cards == ()
        assert found.trouble == "NPU 0 chip 0: told twice; NPU 1 chip 0: its state is not told"

    @pytest.mark.parametrize(
        ("info", "chips", "trouble"),
        [
            (told.TAKEN, told.TAKEN, f"npu-smi lists no chip: {told.TAKEN.strip()}"),
            (told.INFO_910B3, "", "npu-smi lists no chip: it says nothing"),
            (told.INFO_910B3, "0 0 0 Ascend 910B3\n1 0 0 Ascend 910B3\n", "npu-smi lists two chips with one id"),
            (told.INFO_910B3, "0 0 0 Ascend 910B3\n0 0 1 Ascend 910B3\n", "npu-smi lists two chips with one place"),
            (
                "\n".join(told.INFO_910B3.splitlines()[:11]),
                told.MAP_910B3,
                "npu-smi breaks off in the middle of a chip",
            ),
        ],
    )
    def test_what_is_no_list_of_cards_says_so(self, info: str, chips: str, trouble: str) -> None:
        assert machine(info, chips).look() == AscendReport((), trouble)

    def test_a_board_that_does_not_answer_now_is_not_given_another_name(self) -> None:
        def ask(*arguments: str) -> str:
            if "board" in arguments:
                raise NoAnswer("npu-smi does not answer (TimeoutExpired)")
            return told.MAP_310B if "-m" in arguments else told.INFO_310B.replace("Alarm", "OK   ")

        assert Ascend(ask).look() == AscendReport((), "NPU 0 chip 0: npu-smi does not answer (TimeoutExpired)")


class TestProgram:
    """The program that is asked, stood in for by a script of that name."""

    @staticmethod
    def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
        program = tmp_path / "npu-smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(huawei, "_here", Ascend(huawei.npu_smi, "a1b2"))

    def test_a_machine_without_it_is_quiet(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(huawei, "PROGRAMS", ())
        assert huawei.read_ascend_cards() == AscendReport()

    def test_cards_are_found_with_the_machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "map").write_text(told.MAP_310B)
        (tmp_path / "info").write_text(told.INFO_310B)
        self.put(tmp_path, monkeypatch, f'cd {tmp_path}; case "$2" in "") cat info;; -m) cat map;; esac')
        found = measure_machine(tmp_path)
        assert [(card.uuid, card.model) for card in found.cards if card.vendor == "huawei"] == [
            ("NPU-a1b2-0-0", "Ascend 310B4")
        ]
        assert found.facts["npu-smi"] == "NPU 0 chip 0: health Alarm"

    def test_one_that_fails_is_quoted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.put(tmp_path, monkeypatch, f"echo '{told.TAKEN.strip()}'; exit 1")
        assert huawei.read_ascend_cards().trouble == f"npu-smi: {told.TAKEN.strip()}"

    def test_one_that_hangs_is_not_waited_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.put(tmp_path, monkeypatch, "exec sleep 60")
        monkeypatch.setattr(huawei, "TIMEOUT_S", 0.2)
        assert huawei.read_ascend_cards().trouble == "npu-smi does not answer (TimeoutExpired)"


@pytest.mark.django_db
def test_an_ill_card_is_kept_and_takes_no_work_until_it_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for info, healthy in ((told.INFO_310B, False), (told.INFO_310B.replace("Alarm", "OK   "), True)):
        cards = machine(info, told.MAP_310B).look().cards
        seen = Machine("box", "aarch64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {}, cards)
        with acting(platform()):
            services.upsert_machine(platform(), driver="local", machine=seen, isolation="L1", isolation_reason="")
        card = Accelerator.objects.get()
        assert (card.vendor, card.model, card.healthy) == ("huawei", "Ascend 310B4", healthy)


def test_lists_of_names_and_values_are_read_line_by_line() -> None:
    assert npu_smi.fields(told.BOARD_310P)["PCIe Bus Info"] == "0000:81:00.0"
