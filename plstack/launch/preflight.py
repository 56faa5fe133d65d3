"""What can be known to fail is said before anything is done."""

import errno
import fcntl
import importlib.util
import os
import shutil
import socket
import tempfile
from pathlib import Path

from plstack.launch.layout import Layout
from plstack.launch.report import Trouble

FIRST_START_MIB = 1500  # environment 300, node modules 250, Postgres 100, a PyTorch-free first run, and slack
LATER_START_MIB = 200


def check_python() -> None:
    """The venv module is a separate package on some systems."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Trouble("this Python has no venv module: install it (on Debian and Ubuntu: apt-get install python3-venv)")


def check_home(home: Path) -> None:
    """Create the folder and write a file into it. Raises Trouble where that cannot be done."""
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
    """Refuse to begin what would end with a full disk."""
    need = FIRST_START_MIB if first else LATER_START_MIB
    free = shutil.disk_usage(home).free // 2**20
    if free < need:
        raise Trouble(f"{home} has {free} MB free and {need} MB are needed: free some space or set PLSTACK_HOME")


def check_port(host: str, port: int, variable: str = "PLSTACK_PORT") -> None:
    """Bind the address for a moment. Raises Trouble where someone else holds it or it is not ours to use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Trouble(f"port {port} is in use by another program: set {variable} to a free one") from error
            raise Trouble(f"cannot listen on {host}:{port} ({error.strerror}): set PLSTACK_HOST/PORT") from error


def take_lock(layout: Layout) -> int:
    """Hold the copy's lock for this process' life; returns the descriptor. Raises Trouble when it is running."""
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
