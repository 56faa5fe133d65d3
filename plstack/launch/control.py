"""`make stop` and `make status`: find a running copy by its lock and its list of processes."""

import fcntl
import json
import os
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from plstack.launch.layout import Layout
from plstack.launch.report import Trouble

STOP_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class RunningPlatform:
    """The supervisor of a running copy, and the address it serves."""

    address: str
    pid: int


def running_platform(layout: Layout) -> RunningPlatform | None:
    """The running copy, if any. The held lock proves that it runs; a pid in a file would not."""
    try:
        descriptor = os.open(layout.run / "platform.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        told = re.fullmatch(r"(\S+), process (\d+)\n", os.read(descriptor, 200).decode())
        return RunningPlatform(told[1], int(told[2])) if told else None
    finally:
        os.close(descriptor)


def stop(layout: Layout) -> int:
    """Ask the running copy to stop and wait for it. Raises Trouble if it does not."""
    running = running_platform(layout)
    if running is None:
        print("PLStack is not running.")
        return 0
    with suppress(ProcessLookupError):  # it may have ended since
        os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while running_platform(layout) is not None:
        if time.monotonic() > deadline:
            raise Trouble(f"process {running.pid} has not stopped after {STOP_SECONDS:.0f} s: see {layout.logs}")
        time.sleep(0.1)
    print("Stopped. Running work goes on and is found again at the next start.")
    return 0


def status(layout: Layout) -> int:
    """Print the address and the processes; exit status 3 when it is not running, as for system services."""
    running = running_platform(layout)
    if running is None:
        print("PLStack is not running.")
        return 3
    print(f"PLStack is running: {running.address}")
    try:
        processes: dict[str, int] = json.loads((layout.run / "processes.json").read_text())
    except FileNotFoundError:
        print("  still starting")
        return 0
    for name, pid in processes.items():
        print(f"  {name:<11}{pid}")
    return 0
