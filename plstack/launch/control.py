"""`make stop` and `make status`: talking to a running copy through its lock and its list of processes."""

import fcntl
import json
import os
import re
import signal
import time

from plstack.launch.layout import Layout
from plstack.launch.report import Trouble

STOP_SECONDS = 90.0


def holder(layout: Layout) -> int | None:
    """The process that runs this copy. A process number in a file proves nothing, the held lock does."""
    try:
        descriptor = os.open(layout.run / "platform.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        told = re.search(rb"process (\d+)", os.read(descriptor, 200))
        return int(told[1]) if told else None
    finally:
        os.close(descriptor)


def stop(layout: Layout) -> int:
    """Ask the running copy to stop and wait for it. Raises Trouble when it does not."""
    pid = holder(layout)
    if pid is None:
        print("PLStack is not running.")
        return 0
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while holder(layout) is not None:
        if time.monotonic() > deadline:
            raise Trouble(f"process {pid} has not stopped after {STOP_SECONDS:.0f} s: see {layout.logs}")
        time.sleep(0.1)
    print("Stopped. Running work goes on and is found again at the next start.")
    return 0


def status(layout: Layout) -> int:
    """Print the address and the processes; exit status 3 when it is not running, as for system services."""
    if holder(layout) is None:
        print("PLStack is not running.")
        return 3
    print(f"PLStack is running: {layout.address}")
    try:
        processes: dict[str, int] = json.loads((layout.run / "processes.json").read_text())
    except FileNotFoundError:
        print("  still starting")
        return 0
    for name, pid in processes.items():
        print(f"  {name:<11}{pid}")
    return 0
