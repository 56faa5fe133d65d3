"""Checks before a start: report foreseeable failures before anything is changed."""

import errno
import fcntl
import importlib.util
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from plstack.launch.layout import Layout
from plstack.launch.report import Trouble

FIRST_START_MIB = 1500  # environment 300, node modules 250, Postgres 100, a PyTorch-free first run, and slack
LATER_START_MIB = 200
PREDECESSOR_SECONDS = 60.0  # a busy machine needs long to end the processes of a killed supervisor
PORT_SECONDS = 5.0

LONGEST_COMM = 15  # characters of a process' name that the kernel keeps


def check_python() -> None:
    """Raises Trouble if Python lacks the venv module, a separate package on some systems."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Trouble("this Python has no venv module: install it (on Debian and Ubuntu: apt-get install python3-venv)")


def check_home(home: Path) -> None:
    """Create the folder and write a file into it. Raises Trouble if that fails."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=home, prefix=".write-test-") as file:
            file.write(b"\0" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise Trouble(f"the disk that holds {home} is full: free some space or set PLSTACK_HOME") from error
        raise Trouble(f"cannot write to {home} ({error.strerror}): set PLSTACK_HOME to a folder of yours") from error


def check_disk(home: Path, first: bool) -> None:
    """Raises Trouble if the disk has too little room for the start."""
    need = FIRST_START_MIB if first else LATER_START_MIB
    free = shutil.disk_usage(home).free // 2**20
    if free < need:
        raise Trouble(f"{home} has {free} MB free and {need} MB are needed: free some space or set PLSTACK_HOME")


def check_port(host: str, port: int, variable: str = "PLSTACK_PORT", patience: float = PORT_SECONDS) -> None:
    """Bind the address for a moment. Raises Trouble if it may not be bound or is still in use after `patience` seconds.

    Most of this copy's former processes have been waited for (`await_predecessor`), but not those that had just begun.
    """
    deadline = time.monotonic() + patience
    while (failure := _bind(host, port)) and failure.errno == errno.EADDRINUSE and time.monotonic() < deadline:
        time.sleep(0.05)
    if failure and failure.errno == errno.EADDRINUSE:
        raise Trouble(f"port {port} is in use by another program: set {variable} to a free one") from failure
    if failure:
        raise Trouble(f"cannot listen on {host}:{port} ({failure.strerror}): set PLSTACK_HOST/PORT") from failure


def check_ports_differ(ports: Mapping[str, int]) -> None:
    """`ports`: by variable; 0 is none. Raises Trouble: of two that listen on one port, one would never start."""
    named: dict[int, str] = {}
    for variable, port in ports.items():
        if port and named.setdefault(port, variable) != variable:
            raise Trouble(f"{named[port]} and {variable} are both {port}: give each a port of its own")


def _bind(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as failure:
            return failure
    return None


def await_predecessor(layout: Layout, patience: float = PREDECESSOR_SECONDS) -> None:
    """Wait until the processes of a killed supervisor have ended, for at most `patience` seconds.

    They outlive its lock by as long as the kernel takes to end them, and keep their ports. Needs the lock of
    `take_lock`: nobody else can have started them.
    """
    try:
        pids: dict[str, int] = json.loads((layout.run / "processes.json").read_text())
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + patience
    while any(_lives(name, pid) for name, pid in pids.items()) and time.monotonic() < deadline:
        time.sleep(0.05)


def _lives(name: str, pid: int) -> bool:
    """Whether the process has that name; a zombie has ended once no other thread of it is left."""
    process = Path(f"/proc/{pid}")
    try:
        is_ours = (process / "comm").read_text().strip() == f"plstack-{name}"[:LONGEST_COMM]
        is_zombie = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return is_ours and not (is_zombie and len(os.listdir(process / "task")) == 1)
    except OSError:
        return False


def take_lock(layout: Layout) -> int:
    """Lock the copy for the life of this process; returns the descriptor. Raises Trouble if it already runs."""
    layout.run.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(layout.run / "platform.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 200).decode(errors="replace").strip() or "it is still starting"
        os.close(descriptor)
        raise Trouble(f"this copy is already running ({holder}): stop it with Ctrl-C there or `make stop`") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{layout.address}, process {os.getpid()}\n".encode(), 0)
    return descriptor
