"""NVIDIA's library through its C interface, as the real `pynvml` calls it: cards that fail, and a library that does.

The library is `nvml/stand_in.c`, compiled here. Each question is asked by a process of its own, since the library's
place is read when a process starts.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.drivers.nvml.library import FIRST, SECOND, StandIn, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler: install gcc and libc6-dev")

CARDS = """
from dataclasses import asdict
from apps.clusters.nvidia import read_nvidia_cards
answer = asdict(read_nvidia_cards())
"""
SWEEP = """
import os
from dataclasses import asdict
from pathlib import Path
from apps.clusters.nvidia import read_nvidia_cards
answer = []
for calls in range(120):
    Path(os.environ["NVML_STAND_IN"]).write_text(f"{line}")
    answer.append(asdict(read_nvidia_cards()))
"""
MACHINE = """
from dataclasses import asdict
from pathlib import Path
from apps.clusters.discovery import measure_machine
answer = asdict(measure_machine(Path("/tmp")))
"""
SAMPLE = """
from dataclasses import asdict
from apps.workloads.drivers.base import DeviceGrant
from apps.workloads.drivers.local import nvml
def grant(uuid, index, mode):
    return DeviceGrant(uuid, index, "nvidia", "A100", 40_000, 50, mode)
found = nvml.sample([{grants}], lambda: {{{own}}})
answer = None if found is None else asdict(found)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    return StandIn.compiled(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def library(compiled: StandIn) -> StandIn:
    compiled.say()
    return compiled


def sample(library: StandIn, *grants: tuple[str, str], own: str = "7, 8") -> Any:
    """Of these cards, granted in these modes."""
    told = ", ".join(f"grant({uuid!r}, {index}, {mode!r})" for index, (uuid, mode) in enumerate(grants))
    return library.ask(SAMPLE.format(grants=told, own=own))


def test_cards_are_read_with_all_that_the_library_tells(library: StandIn) -> None:
    found = library.ask(CARDS)
    assert (found["unread"], found["error"]) == ([], "")
    first, second = found["cards"]
    assert first == {
        "uuid": FIRST,
        "index": 0,
        "vendor": "nvidia",
        "model": "A100-SXM4-80GB",
        "memory_mib": 81_920,
        "mig": False,
        "utilisation_pct": 31.0,
        "memory_used_mib": 600,
        "temperature_c": 44,
        "power_w": 120.5,
        "mig_cuts": [
            {"name": "3g.40gb", "starts": [0, 4], "size": 4, "compute": 3, "memory_mib": 40_192, "maximum": 2},
            {"name": "7g.80gb", "starts": [0], "size": 8, "compute": 7, "memory_mib": 81_152, "maximum": 1},
        ],
        "partition": "",
        "healthy": True,
        "pci": "0000:18:00.0",
        "numa": None,
        "links": [[SECOND, "NV3"]],
        "trouble": "",
    }
    assert (second["uuid"], second["memory_used_mib"], second["links"]) == (SECOND, 601, [[FIRST, "NV3"]])


def test_a_machine_tells_what_its_driver_is_and_which_start_this_is(library: StandIn) -> None:
    found = library.ask(MACHINE)
    assert (found["facts"]["nvidia-driver"], found["facts"]["cuda"]) == ("570.00", "12.8")
    assert [card["uuid"] for card in found["cards"]] == [FIRST, SECOND]
    assert found["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_a_lost_card_hides_no_other(library: StandIn) -> None:
    library.say("lost 0")
    found = library.ask(MACHINE)
    assert found["unread"] == [{"index": 0, "uuid": "", "error": "GPU_IS_LOST"}]
    assert [(card["uuid"], card["healthy"], card["links"]) for card in found["cards"]] == [(SECOND, True, [])]
    assert found["nvml_error"] == ""


def test_a_card_that_falls_while_it_is_read_is_told_as_it_was_or_not_at_all(library: StandIn) -> None:
    """After so many calls about it. Half a card, without its address for example, would overwrite what is known."""
    whole = library.ask(CARDS)["cards"][0]
    reports = library.ask(SWEEP.format(line="lost_after 0 {calls}"))
    for calls, found in enumerate(reports):
        told = [card for card in found["cards"] if card["uuid"] == FIRST]
        assert [{**card, "links": whole["links"]} for card in told] == ([] if found["unread"] else [whole])
        assert [card["uuid"] for card in found["cards"] if card not in told] == [SECOND]
        assert found["unread"] == ([] if told else [{"index": 0, "uuid": FIRST * (calls > 1), "error": "GPU_IS_LOST"}])
    assert reports[0]["unread"]
    assert not reports[-1]["unread"]


def test_what_the_driver_wants_done_with_a_card_makes_it_unhealthy(library: StandIn) -> None:
    library.say("recovery 0 1", "recovery 1 2")
    found = library.ask(CARDS)["cards"]
    assert [(card["healthy"], card["trouble"]) for card in found] == [(False, "reset"), (False, "restart")]
    library.say("recovery 0 3")  # its links are off, it computes
    assert [card["healthy"] for card in library.ask(CARDS)["cards"]] == [True, True]


@pytest.mark.parametrize(
    ("state", "error"),
    [("init 18", "LIB_RM_VERSION_MISMATCH"), ("init 9", "DRIVER_NOT_LOADED"), ("fail 999", "UNKNOWN")],
)
def test_a_library_that_fails_is_told_and_ends_no_measurement(library: StandIn, state: str, error: str) -> None:
    library.say(state)
    found = library.ask(MACHINE)
    assert (found["cards"], found["unread"], found["nvml_error"]) == ([], [], error)
    assert found["memory_mib"] > 0


def test_a_library_that_fails_in_the_middle_ends_no_measurement(library: StandIn) -> None:
    reports = library.ask(SWEEP.format(line="fail_after {calls} 999"))
    for found in reports:
        assert len(found["unread"]) == (0 if found["error"] else 2 - len(found["cards"]))
        assert {card["error"] for card in found["unread"]} <= {"UNKNOWN"}
    assert {len(found["cards"]) for found in reports} == {0, 1, 2}


def test_without_the_library_nothing_is_told(library: StandIn, tmp_path: Path) -> None:
    assert StandIn(tmp_path).ask(CARDS) == {"cards": [], "unread": [], "error": ""}


class TestSamples:
    def test_a_whole_card_is_measured_as_such(self, library: StandIn) -> None:
        found = sample(library, (FIRST, "whole"), (SECOND, "whole"))
        assert found == {"utilisation_pct": 31.5, "memory_mib": 1201, "temperature_c": 45, "fullest_mib": 601}

    def test_of_a_shared_card_only_its_own_processes_count(self, library: StandIn) -> None:
        library.say("process 0 7 100 10", "process 0 8 200 15", "process 0 9 5000 75", "process 1 7 1 1")
        found = sample(library, (FIRST, "shared"))
        assert found == {"utilisation_pct": 50.0, "memory_mib": 300, "temperature_c": 44, "fullest_mib": 300}
        library.say()
        found = sample(library, (FIRST, "shared"))
        assert found == {"utilisation_pct": 0.0, "memory_mib": 0, "temperature_c": 44, "fullest_mib": 0}

    def test_a_lost_card_hides_no_other(self, library: StandIn) -> None:
        library.say("lost 0")
        assert sample(library, (FIRST, "whole")) is None
        assert sample(library, (FIRST, "whole"), (SECOND, "whole"))["memory_mib"] == 601

    @pytest.mark.parametrize("calls", [1, 2, 3, 4, 5])
    def test_a_card_that_falls_while_it_is_measured_hides_no_other(self, library: StandIn, calls: int) -> None:
        library.say(f"lost_after 0 {calls}")
        found = sample(library, (FIRST, "whole"), (SECOND, "whole"))
        assert found["temperature_c"] == 45

    @pytest.mark.parametrize("state", ["init 18", "fail 999", "fail_after 3 999"])
    def test_a_library_that_fails_measures_nothing(self, library: StandIn, state: str) -> None:
        library.say(state)
        found = sample(library, (FIRST, "whole"))
        assert found is None or found["memory_mib"] is None
