"""Build `static/dist` with Node.js: the machine's own if it is recent enough, else the one from pip."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from plstack.launch import keys
from plstack.launch.files import locked
from plstack.launch.report import Step, Trouble
from plstack.launch.spawn import last_line, run_captured

OLDEST_NODE = 20


def is_built(root: Path) -> bool:
    """Whether `static/dist` was built from the present sources."""
    return not (root / "package.json").exists() or keys.is_current(root / "static/dist/.key", _source_key(root))


def system_node() -> Path | None:
    """The folder of a recent enough `node` and `npm` on PATH."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    asked = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.", asked.stdout)
    return Path(node).parent if version and int(version[1]) >= OLDEST_NODE else None


def build(root: Path, node_folder: Callable[[Step], Path], step: Step) -> None:
    """Install the locked packages and bundle. `node_folder` is called only when there is something to do.

    Two copies of the platform may share one checkout, hence the lock. Raises Trouble.
    """
    if is_built(root):
        step.outcome = "unchanged"
        return
    with locked(root / "package-lock.json"):
        if is_built(root):
            return
        folder = node_folder(step)
        _install(root, folder, step)
        key = _source_key(root)
        _run(root, folder, [folder / "node", "static/src/build.mjs"], "could not be built")
        keys.write(root / "static/dist/.key", key)
        step.outcome = "built"


def _install(root: Path, folder: Path, step: Step) -> None:
    marker, key = root / "node_modules/.plstack-key", keys.hash_files([root / "package-lock.json"])
    if not keys.is_current(marker, key):
        step.note("fetching packages, once")
        _run(
            root,
            folder,
            [folder / "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            "packages could not be installed",
        )
        keys.write(marker, key)


def _source_key(root: Path) -> str:
    """A hash of the sources, including templates and code: the bundle contains only the icons that they name."""
    html = [*root.glob("templates/**/*.html"), *root.glob("apps/**/*.py")]
    return keys.hash_files([root / "package-lock.json", root / "static/src", *html])


def _run(root: Path, folder: Path, argv: list[str | Path], what: str) -> None:
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}", "NO_COLOR": "1"}
    done = run_captured(argv, cwd=root, env=env)
    if done.returncode == 0:
        return
    if "ENOSPC" in done.stdout:
        raise Trouble("the disk became full while the front end was built: free some space")
    if any(sign in done.stdout for sign in ("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ECONNRESET")):
        raise Trouble(
            "the npm registry cannot be reached: the first start needs a network (or npm's proxy or mirror settings)"
        )
    raise Trouble(f"the front end {what}: {last_line(done.stdout, 'npm error', 'ERROR', 'Error')}")
