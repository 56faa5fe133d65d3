"""Runs the scanner on what may be hostile: in the sandbox of tenants' work, without a network, as an account that owns
nothing, with limits on time, memory and what it writes.
"""

import os
import signal
import stat
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from apps.registry.scanning.choices import ScanProblem
from apps.registry.scanning.layout import ScanFailed
from apps.workloads.drivers.local import sandbox, seccomp
from apps.workloads.drivers.local.disk_floor import Pressure, Space
from apps.workloads.drivers.local.environment import SANDBOX_TMP
from apps.workloads.drivers.local.runtime import BASE_PYTHON
from apps.workloads.drivers.local.sandbox import LIBRARY_INSIDE, View
from apps.workloads.drivers.local.volumes import HostMount

NOBODY = 65534
INSIDE = "/scan"
PROGRAM, DATABASE, TARGET = f"{INSIDE}/grype", f"{INSIDE}/database", f"{INSIDE}/target"
REPORT, SBOM = "report.json", "sbom.json"
MIB = 1024 * 1024
MOST_OUTPUT = 256 * MIB
LOOK_S = 0.25
TAIL = 4096
# Gives up the sandbox's privileges for good; in a process of its own it becomes the scanner under its limits. A change
# of user id would let the first process forget that it has to die with bubblewrap (prctl(2), PR_SET_PDEATHSIG).
_BOOT = """
import os, resource, sys
sys.path.append(sys.argv[1])
from apps.workloads.drivers.local import privileges
uid, memory, size, seconds = map(int, sys.argv[2:6])
privileges.give_up()
os.nice(10)
scanner = os.fork()
if scanner:
    code = os.waitstatus_to_exitcode(os.waitpid(scanner, 0)[1])
    os._exit(code if code >= 0 else 128 - code)
if uid:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
for limit, value in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_CPU, seconds),
                     (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NPROC, 512 if uid else resource.RLIM_INFINITY)):
    resource.setrlimit(limit, (value, value))
os.execv(sys.argv[6], sys.argv[6:])
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """`size_mib`: of one file that the scanner writes while it reads layers."""

    seconds: int
    memory_mib: int
    size_mib: int


@dataclass(frozen=True, slots=True)
class Scanning:
    """`target`: what to scan, in words of Grype's with `TARGET` for the folder. `scratch`: an empty folder of ours."""

    program: Path
    database: Path
    folder: Path
    target: str
    scratch: Path
    limits: Limits


def scan(asked: Scanning, cancelled: threading.Event) -> tuple[bytes, bytes]:
    """The scanner's report, and the list of packages (CycloneDX) that it made. Raises ScanFailed, OSError."""
    temporary = asked.scratch / "tmp"
    temporary.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(temporary, NOBODY, NOBODY)
    said = _run(asked, temporary, cancelled)
    report = _taken(temporary / REPORT)
    if report is None:
        raise ScanFailed(ScanProblem.SCANNER_FAILED, said)
    return report, _taken(temporary / SBOM) or b""


def _run(asked: Scanning, temporary: Path, cancelled: threading.Event) -> str:
    """What it said in the end."""
    if sandbox.executable() is None:
        raise ScanFailed(ScanProblem.NO_SANDBOX, "bubblewrap (bwrap) is not installed")
    seccomp_filter = seccomp.open_filter()
    inherited = () if seccomp_filter is None else (seccomp_filter,)
    try:
        process = subprocess.Popen(
            [*sandbox.arguments(_view(asked, temporary), seccomp_filter), *_words(asked)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=inherited,
            env=_variables(asked.limits), start_new_session=True,
        )  # fmt: skip
    finally:
        for descriptor in inherited:
            os.close(descriptor)
    tail = _Tail(process.stderr)
    try:
        _wait(process, asked, cancelled)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    said = tail.text()
    if process.returncode != 0:
        raise ScanFailed(ScanProblem.SCANNER_FAILED, said or f"it ended with {process.returncode}")
    return said


def _wait(process: "subprocess.Popen[bytes]", asked: Scanning, cancelled: threading.Event) -> None:
    end = time.monotonic() + asked.limits.seconds
    while process.poll() is None:
        if cancelled.wait(LOOK_S) or time.monotonic() > end:
            raise ScanFailed(ScanProblem.TIMED_OUT)
        if Space.of(asked.scratch).pressure >= Pressure.LOW:
            raise ScanFailed(ScanProblem.NO_ROOM)


def _view(asked: Scanning, temporary: Path) -> View:
    read = ((asked.program, PROGRAM), (asked.database, DATABASE), (asked.folder, TARGET))
    mounts = [HostMount(str(source), target, read_only=True) for source, target in read]
    return View(mounts=[*mounts, HostMount(str(temporary), SANDBOX_TMP, read_only=False)])


def _words(asked: Scanning) -> list[str]:
    """The command line inside the sandbox."""
    limits, uid = asked.limits, NOBODY if os.geteuid() == 0 else 0
    numbers = (uid, limits.memory_mib * MIB, limits.size_mib * MIB, limits.seconds * 4)
    outputs = ("-o", f"json={SANDBOX_TMP}/{REPORT}", "-o", f"cyclonedx-json={SANDBOX_TMP}/{SBOM}")
    boot = [str(BASE_PYTHON), "-I", "-S", "-c", _BOOT, LIBRARY_INSIDE, *map(str, numbers)]
    return [*boot, PROGRAM, asked.target, *outputs, "--quiet"]


def _variables(limits: Limits) -> dict[str, str]:
    return {
        **variables(DATABASE),
        "PATH": os.defpath,
        "HOME": SANDBOX_TMP,
        "TMPDIR": SANDBOX_TMP,
        "GOMEMLIMIT": f"{limits.memory_mib * 3 // 4}MiB",
        "GOMAXPROCS": "2",
    }


def variables(database: str) -> dict[str, str]:
    """What Grype is told wherever the platform starts it: where its database is, and to fetch nothing by itself.

    The age of the database is said on each page instead of being a reason to refuse.
    """
    return {
        "GRYPE_DB_CACHE_DIR": database,
        "GRYPE_DB_AUTO_UPDATE": "false",
        "GRYPE_DB_VALIDATE_AGE": "false",
        "GRYPE_DB_VALIDATE_BY_HASH_ON_START": "false",
        "GRYPE_CHECK_FOR_APP_UPDATE": "false",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }


class _Tail:
    """Reads what a program says to its end and keeps the last of it, so that it never waits for a reader."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes] | None) -> None:
        while stream is not None and (piece := os.read(stream.fileno(), 65536)):
            self._kept = (self._kept + piece)[-TAIL:]

    def text(self) -> str:
        self._thread.join(5)
        lines = [line.strip() for line in self._kept.decode(errors="replace").splitlines() if line.strip()]
        return "".join(sign for sign in " ".join(lines[-3:]) if sign.isprintable())


def _taken(path: Path) -> bytes | None:
    """A file that came out of the sandbox: never through a link, never endless. None where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = file.read(MOST_OUTPUT + 1)
    if len(found) > MOST_OUTPUT:
        raise ScanFailed(ScanProblem.TOO_MUCH_OUTPUT)
    return found
