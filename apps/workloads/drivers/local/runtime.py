"""Runtimes: one virtual environment per set of pinned requirements, built once and shared read-only.

Those of a Node runtime are npm packages, in `node_modules` beside the `bin` that has its Node (see `node`).

`runtimes/<key>/` is complete when its marker exists; whoever holds `runtimes/<key>.lock` may build it. It is built in
its final place, because the scripts of a virtual environment contain its path.
"""

import hashlib
import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from apps.workloads.drivers.base import Progress, RuntimeImage, RuntimeKind
from apps.workloads.drivers.local import node
from apps.workloads.drivers.local.linux import try_lock
from apps.workloads.drivers.said import Code, Said

MARKER_FILE = ".plstack-complete"
POLL_S = 0.25
DETAIL_LINES = 12
BASE_PYTHON = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
BASE_PREFIX = Path(sys.base_prefix)

Report = Callable[[Progress], None]
Tick = Callable[[], None]


class ImageFailed(Exception):
    """The runtime cannot be built: what the driver says of it, or the installer's last lines."""

    def __init__(self, said: Said | None = None, output: str = "") -> None:
        super().__init__(output if said is None else str(said))
        self.said, self.output = said, output


def key(image: RuntimeImage) -> str:
    """Content address: what it builds on, and the requirements whatever their order."""
    python = [sys.version, platform.machine(), str(BASE_PREFIX)]
    if image.kind is RuntimeKind.NODE:
        python.append(node.PACKAGE)
    content = json.dumps([python, sorted(image.requirements)])
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def is_complete(path: Path) -> bool:
    # A Python that was upgraded or removed leaves the environment's link dangling.
    return (path / MARKER_FILE).exists() and (path / "bin" / "python").exists()


class Builder:
    """Prepares one image. `tick` is called at least every 0.25 s and may raise to give up.

    `variables`: told to the installers beside what this process was told, like where to download from.
    """

    def __init__(
        self,
        image: RuntimeImage,
        runtimes: Path,
        setup_log: Path,
        report: Report,
        tick: Tick,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.image = image
        self.path = runtimes / key(image)
        self.setup_log = setup_log
        self.report = report
        self.tick = tick
        self.variables = variables or {}

    def prepare(self) -> Path:
        """The complete runtime's path. Raises `ImageFailed`, or what `tick` raises."""
        if is_complete(self.path):
            return self.path
        if self.image.kind is RuntimeKind.NODE and (missing := node.missing(self.image.requirements)):
            raise ImageFailed(missing)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self._wait_for_lock()
        try:
            if not is_complete(self.path):
                self._build()
        finally:
            os.close(lock)
        return self.path

    def _wait_for_lock(self) -> int:
        while (lock := try_lock(self.path.with_suffix(".lock"))) is None:
            self.report(Progress(Said(Code.WAITING_FOR_INSTALLATION, {"name": self.image.name})))
            self.tick()
            time.sleep(POLL_S)
        return lock

    def _build(self) -> None:
        downloads = self.path.with_suffix(".tmp")
        for leftover in (self.path, downloads):
            shutil.rmtree(leftover, ignore_errors=True)
        downloads.mkdir()
        try:
            self._install(downloads)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        finally:
            shutil.rmtree(downloads, ignore_errors=True)

    def _install(self, downloads: Path) -> None:
        self.report(Progress(Said(Code.CREATING_ENVIRONMENT, {"name": self.image.name})))
        self._run([str(BASE_PYTHON), "-I", "-m", "venv", "--without-pip", str(self.path)], downloads)
        if self.image.kind is RuntimeKind.NODE:
            self._install_python([node.PACKAGE], downloads)
            self.report(Progress(Said(Code.BUILDING_IMAGE, {"name": self.image.name})))
            self._run(node.install_command(self.path, self.image.requirements), downloads, node.variables(self.path))
        elif self.image.requirements:
            self._install_python(self.image.requirements, downloads)
        (self.path / MARKER_FILE).touch()

    def _install_python(self, requirements: Sequence[str], downloads: Path) -> None:
        # As a file: on the command line a requirement that begins with a dash would be an option.
        listed = downloads / "requirements.txt"
        listed.write_text("".join(f"{requirement}\n" for requirement in requirements))
        options = ["--no-input", "--progress-bar", "off", "-r", str(listed)]
        self._run([*self._pip(downloads), "install", *options], downloads)

    def _pip(self, downloads: Path) -> list[str]:
        """The platform's own pip, aimed at the runtime: giving the runtime one of its own takes ten seconds."""
        python = str(self.path / "bin" / "python")
        if _has_pip(Path(sys.executable)):
            return [sys.executable, "-I", "-m", "pip", "--python", python]
        self._run([python, "-I", "-m", "ensurepip"], downloads)
        return [python, "-I", "-m", "pip"]

    def _run(self, argv: Sequence[str], downloads: Path, variables: Mapping[str, str] | None = None) -> None:
        own = {"TMPDIR": str(downloads), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        environment = {**os.environ, **self.variables, **own, **(variables or {})}
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=environment, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise ImageFailed(output=f"{argv[0]}: {error.strerror}") from error
        try:
            lines = self._follow(process, downloads)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode != 0:
            if lines:
                raise ImageFailed(output="\n".join(lines[-DETAIL_LINES:]))
            raise ImageFailed(Said(Code.INSTALLER_FAILED, {"status": process.returncode}))

    def _follow(self, process: "subprocess.Popen[bytes]", downloads: Path) -> list[str]:
        """Reads the installer to its end, into the set-up log and as progress; its last lines."""
        download = Download(downloads)
        lines: list[str] = []
        with open(self.setup_log, "a", encoding="utf-8") as log:
            for line in output_lines(process):
                if line:
                    log.write(line + "\n")
                    log.flush()
                    lines = [*lines[-DETAIL_LINES:], line]
                    download.see(line)
                if progress := download.progress():
                    self.report(progress)
                self.tick()
        process.wait()
        return lines


def _has_pip(python: Path) -> bool:
    """Told from its folder, because this process runs without site-packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return (python.parent.parent / "lib" / version / "site-packages" / "pip").is_dir()


def output_lines(process: "subprocess.Popen[bytes]") -> Iterator[str]:
    """The process's output line by line until its end; "" whenever there was nothing for a moment."""
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    pending = b""
    while True:
        if not select.select([process.stdout], [], [], POLL_S)[0]:
            yield ""
            continue
        data = os.read(process.stdout.fileno(), 65536)
        if not data:
            break
        *complete, pending = (pending + data).split(b"\n")
        yield from (line.decode(errors="replace").rstrip() for line in complete)
    yield pending.decode(errors="replace").rstrip()


class Download:
    """What pip is doing, told from its output and, within one download, from the size of the file so far."""

    _PATTERN = re.compile(r"\s*Downloading (\S+) \(([\d.]+) (kB|MB|GB)\)")
    _UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9}

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.said: Said | None = None
        self.file = ""
        self.total_bytes = 0.0

    def see(self, line: str) -> None:
        if found := self._PATTERN.match(line):
            self.file = found[1].rpartition("/")[2]
            self.total_bytes = float(found[2]) * self._UNITS[found[3]]
            self.said = Said(Code.DOWNLOADING, {"name": self.file, "size": f"{found[2]} {found[3]}"})
        elif line.startswith("Installing collected packages:"):
            self.file = ""
            self.said = Said(Code.INSTALLING, {"count": line.count(",") + 1})
        elif found := node.PROGRESS.match(line):
            self.file = ""
            self.said = Said(Code.BUILDING_PACKAGE, {"name": found[1]})
        elif line.startswith("Collecting "):
            self.file = ""
            # pip goes on to say "(from …)" with paths of this machine, which are not the workload's business.
            name = line.removeprefix("Collecting ").partition(" (from")[0].strip()
            self.said = Said(Code.COLLECTING, {"name": name})

    def progress(self) -> Progress | None:
        if self.said is None:
            return None
        return Progress(self.said, self._fraction() if self.file else None)

    def _fraction(self) -> float | None:
        if self.total_bytes < 5e6:
            return None
        sizes = []
        for path in self.directory.glob(f"pip-*/{self.file}"):
            with suppress(OSError):
                sizes.append(path.stat().st_size)
        return min(1.0, max(sizes) / self.total_bytes) if sizes else None
