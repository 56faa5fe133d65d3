"""What the simulated driver keeps about each attempt: its made-up cards, and whether it is a process or a stub."""

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import DeviceGrant
from apps.workloads.drivers.local.linux import write_atomic

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Grant:
    """`began_s` on the clock that counts from the machine's start `boot`, sleep included; `stub_s` 0 for a process.

    `gang`: whether it waits at the barrier until it is released.
    """

    devices: tuple[DeviceGrant, ...]
    stub_s: float
    began_s: float
    boot: str
    gang: bool = False


class Grants:
    """A folder with one file for each attempt, and an empty one more once it has ended or was asked to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One launch at a time, so that the limit of processes holds."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self._folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def read(self, ref: str) -> Grant | None:
        """None for an attempt that was never granted anything. Raises ValueError for a broken file."""
        try:
            fields: dict[str, Any] = json.loads((self._folder / f"{ref}.json").read_bytes())
        except FileNotFoundError:
            return None
        devices = tuple(DeviceGrant(**device) for device in fields.pop("devices"))
        return Grant(devices=devices, **fields)

    def write(self, ref: str, grant: Grant) -> None:
        write_atomic(self._folder / f"{ref}.json", json.dumps(asdict(grant)).encode())

    def processes(self) -> int:
        """How many attempts that are processes have not been seen to end."""
        refs = [path.stem for path in self._folder.glob("*.json") if not self.mark(path.stem, "ended").exists()]
        grants = [self.read(ref) for ref in refs]
        return sum(grant is not None and not grant.stub_s for grant in grants)

    def mark(self, ref: str, name: str) -> Path:
        """The file whose existence says that the attempt has `ended`, was asked to `stop`, or is `released`."""
        return self._folder / f"{ref}.{name}"

    def known(self) -> list[str]:
        return [path.stem for path in self._folder.glob("*.json")]

    def forget(self, ref: str) -> None:
        for name in ("ended", "stop", "released", "json"):
            with suppress(FileNotFoundError):
                self.mark(ref, name).unlink()


def now_s() -> float:
    """Seconds since the machine started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def boot() -> str:
    """Which start of the machine this is: a stub of an earlier one is lost."""
    return _BOOT_ID.read_text().strip()
