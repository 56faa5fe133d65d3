"""Huawei Ascend cards as npu-smi reports them (Huawei, "npu-smi Command Reference"). Quiet where there is none.

Three questions: `info -m` says which chips compute and by which number programs know them, `info` how they are, and
`info -t board` what each is called wherever it is plugged in. A chip is a card here: boards with two are two cards.
Cards are given out whole or shared. Templates of vNPUs are those of `scheduler.ascend`, for the model that is found.

Not tried on a real card: written after published output of 310P3, 310B4, 910B and 910C boards under npu-smi 22 to 26.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from apps.clusters.cards import Card
from apps.clusters.npu_smi import Chip, Nonsense, Reading, chips, fields, readings

VENDOR = "huawei"
# The installer's own places, which the path of a service does not always name.
PROGRAMS = ("/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/usr/local/Ascend/driver/tools/npu-smi")
LIBRARIES = tuple(f"/usr/local/Ascend/driver/lib64{name}" for name in ("", "/driver", "/common"))
TIMEOUT_S = 20.0
# Of the four grades of the driver, OK and Warning are those that Huawei's own device plugin goes on giving work to.
USABLE = frozenset({"OK", "WARNING"})
MACHINE_ID = Path("/etc/machine-id")

Ask = Callable[..., str]
Told = Mapping[tuple[int, int], Reading | Nonsense]


class NoAnswer(Exception):
    """npu-smi is installed but fails; carries its own message."""


@dataclass(frozen=True, slots=True)
class AscendReport:
    """The cards, and one line on what npu-smi reported wrongly or why it failed ("" if there was no problem)."""

    cards: tuple[Card, ...] = ()
    trouble: str = ""


@dataclass(slots=True)
class Ascend:
    """`ask` runs npu-smi with these arguments and returns its output; raises NoAnswer. Names of chips are read once."""

    ask: Ask
    machine_id: str = ""
    names: dict[tuple[int, int, str], str] = field(default_factory=dict)

    def look(self) -> AscendReport:
        try:
            computing, told = chips(self.ask("info", "-m")), readings(self.ask("info"))
        except (NoAnswer, Nonsense) as error:
            return AscendReport(trouble=str(error))
        cards: list[Card] = []
        troubles: list[str] = []
        for chip in computing:
            try:
                cards.append(self._card(chip, told))
            except (NoAnswer, Nonsense) as error:
                troubles.append(f"NPU {chip.npu} chip {chip.number}: {error}")
        return AscendReport(tuple(cards), "; ".join([*troubles, *_unhealthy(computing, told)]))

    def _card(self, chip: Chip, told: Told) -> Card:
        reading = told.get(chip.place)
        if reading is None:
            raise Nonsense("its state is not told")
        if isinstance(reading, Nonsense):
            raise reading
        return Card(
            uuid=self._name(chip, reading),
            index=chip.logic_id,
            vendor=VENDOR,
            model=model_name(reading.name),
            memory_mib=reading.memory_mib,
            utilisation_pct=reading.utilisation_pct,
            memory_used_mib=reading.memory_used_mib,
            temperature_c=reading.temperature_c,
            power_w=reading.power_w,
            mig_cuts=(),
            healthy=is_usable(reading),
        )

    def _name(self, chip: Chip, reading: Reading) -> str:
        """A unique name: by its die id, or, if it does not report one, by its machine and its place there."""
        key = (*chip.place, reading.bus_id)
        if key not in self.names:
            board = fields(self.ask("info", "-t", "board", "-i", str(chip.npu), "-c", str(chip.number)))
            die = next((board[name] for name in ("VDie ID", "Die ID") if board.get(name, "NA") != "NA"), "")
            place = f"{self.machine_id}-{chip.npu}-{chip.number}"
            self.names[key] = f"NPU-{'-'.join(die.split()) or place}"
        return self.names[key]


def model_name(told: str) -> str:
    """`Ascend 910B3` for 910B3, Ascend910B3 and Ascend 910B3 alike: drivers of different age write it differently."""
    return f"Ascend {told.removeprefix('Ascend').strip()}".strip()


def is_usable(reading: Reading) -> bool:
    return reading.health.upper() in USABLE


def _unhealthy(computing: list[Chip], told: Told) -> Iterator[str]:
    for chip in computing:
        reading = told.get(chip.place)
        if isinstance(reading, Reading) and not is_usable(reading):
            yield f"NPU {chip.npu} chip {chip.number}: health {reading.health}"


def program() -> str | None:
    """Where npu-smi is; None on a machine without Ascend's driver."""
    found = shutil.which("npu-smi")
    return found or next((path for path in PROGRAMS if os.access(path, os.X_OK)), None)


def npu_smi(*arguments: str) -> str:
    """The output of npu-smi, whose libraries are outside the loader's default path. Raises NoAnswer."""
    path = program()
    if path is None:
        raise NoAnswer("npu-smi is not here any more")
    libraries = ":".join([*LIBRARIES, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    variables = {**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": libraries}
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, env=variables
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(f"npu-smi does not answer ({type(error).__name__})") from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise NoAnswer(f"npu-smi: {said[0][:200] if said else f'exit code {done.returncode}'}")
    return done.stdout


def _machine_id() -> str:
    return MACHINE_ID.read_text().strip() if MACHINE_ID.is_file() else os.uname().nodename


_here = Ascend(npu_smi)


def read_ascend_cards() -> AscendReport:
    """This machine's cards. Without npu-smi: no cards and no problem."""
    if program() is None:
        return AscendReport()
    _here.machine_id = _here.machine_id or _machine_id()
    return _here.look()
