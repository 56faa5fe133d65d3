"""A local driver of its own, the card, and work on it."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from uuid import uuid4

from apps.clusters import nvidia
from apps.clusters.cards import Card
from apps.workloads.drivers.base import (
    DeviceGrant,
    Handle,
    Image,
    IsolationLevel,
    LaunchRequest,
    Mount,
    Observation,
    Phase,
    RuntimeImage,
)
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.request import DATA

SITE, WORK = "/opt/site", "/workspace"
WAIT_S = 90.0
SMI = "uuid,name,memory.total,memory.used,temperature.gpu,power.draw,utilization.gpu,pci.bus_id,driver_version"


@dataclass
class Bench:
    """`site`: packages with PyTorch, or None."""

    home: Path
    card: Card
    site: Path | None = None

    def driver(self, level: IsolationLevel = IsolationLevel.L1) -> LocalDriver:
        folder = self.home / level.value
        folder.mkdir(mode=0o755, exist_ok=True)
        return LocalDriver(folder, level=level, volumes={DATA: Path("/")})

    def grant(self, mode: str = "whole", memory_mib: int = 0, cores_pct: int = 100) -> DeviceGrant:
        card = self.card
        memory = memory_mib or card.memory_mib
        return DeviceGrant(card.uuid, card.index, card.vendor, card.model, memory, cores_pct, mode)

    def request(self, source: str, *arguments: str, image: Image | None = None, **changes: Any) -> LaunchRequest:
        folders = {WORK: self.home / "work", **({SITE: self.site} if self.site else {})}
        mounts = tuple(Mount(DATA, str(path).lstrip("/"), target, read_only=True) for target, path in folders.items())
        made = LaunchRequest(
            attempt_id=uuid4(),
            workload_id=uuid4(),
            tenant_id=uuid4(),
            node="",
            image=image or RuntimeImage("plain"),
            argv=("python3", "-c", source, *arguments),
            env={"PYTHONPATH": SITE} if self.site else {},
            mounts=mounts,
            workdir=WORK,
            cpu_milli=4000,
            memory_mib=16_384,
            devices=(self.grant(),),
        )
        return replace(made, **changes)

    def smi(self) -> dict[str, str]:
        """What nvidia-smi says of the card, by field."""
        told = nvidia_smi(f"--query-gpu={SMI}", f"--id={self.card.uuid}", "--format=csv,noheader,nounits")
        return dict(zip(SMI.split(","), (word.strip() for word in told.split(",")), strict=True))


@contextmanager
def bench(site: Path | None) -> Iterator[Bench]:
    """Raises LookupError where there is no card."""
    card = next(iter(nvidia.cards()), None)
    if card is None:
        raise LookupError("NVML names no card on this machine")
    home = Path(mkdtemp(prefix="plstack-hardware-", dir="/var/tmp"))
    home.chmod(0o755)
    (home / "work").mkdir(mode=0o755)
    try:
        yield Bench(home, card, site)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def nvidia_smi(*words: str) -> str:
    return subprocess.run(["nvidia-smi", *words], capture_output=True, text=True, check=True).stdout


def wait(
    driver: LocalDriver, handle: Handle, until: Callable[[Observation], bool] = lambda seen: seen.phase.is_final
) -> Observation:
    """Raises TimeoutError with what was seen last."""
    deadline = time.monotonic() + WAIT_S
    while not until(seen := driver.observe(handle)):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{seen}\n{text(driver, handle)}")
        time.sleep(0.1)
    return seen


def text(driver: LocalDriver, handle: Handle) -> str:
    return driver.logs(handle, 0, 1 << 20).data.decode(errors="replace")


def told(driver: LocalDriver, handle: Handle) -> dict[str, Any]:
    """The last line of JSON that the program has written. Raises ValueError with the log where there is none."""
    for line in reversed(text(driver, handle).splitlines()):
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            return found
    raise ValueError(text(driver, handle))


def run(driver: LocalDriver, request: LaunchRequest) -> tuple[Observation, dict[str, Any]]:
    """To its end."""
    handle = driver.launch(request)
    seen = wait(driver, handle)
    return seen, told(driver, handle)


@contextmanager
def running(driver: LocalDriver, request: LaunchRequest) -> Iterator[Handle]:
    """Until it has answered once; ended afterwards."""
    handle = driver.launch(request)
    try:
        wait(driver, handle, lambda seen: seen.phase.is_final or "{" in text(driver, handle))
        told(driver, handle)
        yield handle
    finally:
        driver.stop(handle, 0)
        wait(driver, handle)


def settled(driver: LocalDriver, handle: Handle, seconds: float) -> Observation:
    """The look after so many seconds of running, for figures that are means over the last second."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if driver.observe(handle).phase is not Phase.RUNNING:
            break
        time.sleep(0.25)
    return driver.observe(handle)
