"""The virtual environment in `$PLSTACK_HOME/venv`, installed from a hashed lock and kept while that is unchanged."""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from plstack.launch import keys
from plstack.launch.files import locked
from plstack.launch.layout import Layout
from plstack.launch.pip_settings import uv_environment
from plstack.launch.report import Step, Trouble
from plstack.launch.spawn import last_line, run_captured

LOCK = ".plstack-lock"
NO_SPACE = "No space left on device"
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
    """Whether the environment matches the lock; the `quickstart` lock is a part of the `dev` lock."""
    enough = ("quickstart", "dev") if level == "quickstart" else (level,)
    if not layout.python.exists() or _unfinished(layout).exists():
        return False
    return any(keys.is_current(_marker(layout, one), _key(layout, one)) for one in enough)


def ensure(layout: Layout, level: str, step: Step) -> None:
    """Create or update the environment. Raises Trouble, in one line, for no network, no space or a broken package."""
    if is_ready(layout, level):
        step.outcome = "unchanged"
        return
    try:
        layout.venv.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Trouble(f"the virtual environment could not be made in {layout.venv}: {error.strerror}") from error
    with locked(layout.venv / LOCK) as lock:  # several homes may share one environment
        if not is_ready(layout, level):
            _create(layout)
            _unfinished(layout).touch()
            _install(layout, level, step, lock)
            keys.write(_marker(layout, level), _key(layout, level))
            _unfinished(layout).unlink()


def _unfinished(layout: Layout) -> Path:
    """A marker that exists during an installation: an interrupted one looks complete but lacks files."""
    return layout.venv / ".plstack-unfinished"


def _marker(layout: Layout, level: str) -> Path:
    return layout.venv / f".plstack-{level}"


def _key(layout: Layout, level: str) -> str:
    return keys.hash_files([lock_file(layout, level)], sys.version, platform.machine(), sys.base_prefix)


def _create(layout: Layout) -> None:
    """Create the environment, anew if it is of another Python or an interrupted install; keep any other folder."""
    if (layout.venv / "pyvenv.cfg").exists():
        if _is_of_this_python(layout) and not _unfinished(layout).exists():
            return
        for path in layout.venv.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
    made = run_captured([sys.executable, "-m", "venv", "--without-pip", layout.venv], cwd=layout.home)
    if made.returncode:
        raise Trouble(f"the virtual environment could not be made: {last_line(made.stdout)}")


def _is_of_this_python(layout: Layout) -> bool:
    asked = "import sys; print(sys.version, sys.base_prefix)"
    try:
        return (
            run_captured([layout.python, "-I", "-c", asked], cwd=layout.home).stdout
            == f"{sys.version} {sys.base_prefix}\n"
        )
    except OSError:
        return False


def _install(layout: Layout, level: str, step: Step, lock: int) -> None:
    wanted = lock_file(layout, level)
    step.note(f"{len(re.findall('^[A-Za-z0-9]', wanted.read_text(), re.MULTILINE))} packages to install, once")
    _ensure_installer(layout, lock)
    options: list[str | Path] = ["--no-deps", "--require-hashes", "-r", wanted]
    done = _uv(layout, options, step, lock)
    if done.returncode and NO_SPACE not in done.stdout:
        step.note(f"uv could not install them ({last_line(done.stdout, 'error:')}), pip tries")
        pip = [layout.python, "-m", "pip", "install", "--no-compile", "--force-reinstall", *options]
        done = run_captured(pip, cwd=layout.home, keep=[lock])
    if done.returncode:
        raise _failure(layout, done.stdout)


def _ensure_installer(layout: Layout, lock: int) -> None:
    """Install uv, which is many times faster, and pip, which builds runtimes; both are locked like the rest."""
    if keys.is_current(_marker(layout, "installer"), _key(layout, "installer")):
        return
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", layout.python]
    if importlib.util.find_spec("pip") is None:
        run_captured([layout.python, "-m", "ensurepip"], cwd=layout.home)
        pip = [layout.python, "-m", "pip"]
    wanted = ["-q", "--no-compile", "--require-hashes", "-r", lock_file(layout, "installer")]
    got = run_captured([*pip, "install", *wanted], cwd=layout.home, keep=[lock])
    if got.returncode:
        raise _failure(layout, got.stdout)
    keys.write(_marker(layout, "installer"), _key(layout, "installer"))


def _uv(layout: Layout, options: Sequence[str | Path], step: Step, lock: int) -> "subprocess.CompletedProcess[str]":
    """Run `uv pip install` with pip's settings; notes each larger package that has been downloaded."""
    listed = run_captured([layout.python, "-m", "pip", "config", "list"], cwd=layout.home).stdout
    argv = [layout.venv / "bin" / "uv", "pip", "install", "--python", layout.python, "--color", "never", *options]
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            [str(word) for word in argv],
            cwd=layout.home,
            env=uv_environment(listed, os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=[lock],  # if this process is killed, uv keeps the lock and the next start waits for it
        )
    except OSError as error:
        return subprocess.CompletedProcess(argv, 1, f"error: uv does not run here: {error.strerror}")
    with ExitStack() as stack:
        stack.enter_context(process)
        stack.callback(process.kill)
        for line in process.stdout or ():
            lines.append(line)
            if line.lstrip().startswith("Downloaded "):
                step.note(f"{line.split()[1]} fetched")
        process.wait()
    return subprocess.CompletedProcess(argv, process.returncode, "".join(lines))


def _failure(layout: Layout, output: str) -> Trouble:
    """The error to raise. Unless the disk is full, nothing has been installed yet, so the marker is removed."""
    if NO_SPACE not in output:
        _unfinished(layout).unlink()
    return _trouble(output)


def _trouble(output: str) -> Trouble:
    if NO_SPACE in output:
        return Trouble("the disk became full while Python packages were installed: free some space or set PLSTACK_HOME")
    if any(sign in output for sign in NETWORK_SIGNS):
        return Trouble(
            "the Python package index cannot be reached: the first start needs a network (or pip's mirror settings)"
        )
    return Trouble(f"Python packages could not be installed: {last_line(output, 'ERROR', 'error:')}")
