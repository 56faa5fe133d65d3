"""Images on their way into a registry: `saved/<digest>.<destination>.push/` has state and lock of what sends one.

Whoever asks starts the process where none runs, and reads how far it is. The layout stays until nobody names it
(`kept`). Standard library only.
"""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from apps.workloads.drivers import software_sources
from apps.workloads.drivers.base import DriverError, Progress, PullRules, Reference, SoftwareSources
from apps.workloads.drivers.images import Destination
from apps.workloads.drivers.local.linux import remove_tree, try_lock
from apps.workloads.drivers.local.oci import saved
from apps.workloads.drivers.local.oci.prepare import PROJECT
from apps.workloads.drivers.said import Code, Said

BOOT = "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local.oci import pushing; pushing.main()"
STATE, LOCK, WITHDRAWN = "state.json", "lock", "withdrawn"


@dataclass(frozen=True, slots=True)
class Fetching:
    """How layers of the base that are not kept here are fetched. `certificates`: a file with all to trust, or ""."""

    rules: PullRules
    sources: SoftwareSources
    certificates: str = ""


def push(home: Path, fetching: Fetching, image: Reference, to: Destination) -> Progress | None:
    """None once it is there. Raises DriverError, OSError, ValueError."""
    folder = _folder(home, image, to)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = try_lock(folder / LOCK)
    try:
        told = _state(folder)
        if lock is None:
            return _progress(to, told)
        if told.get("done") is True:
            return None
        (folder / WITHDRAWN).unlink(missing_ok=True)
        if "failed" in told:
            (folder / STATE).unlink()
            raise DriverError(Said.from_json(told["failed"]))
        _start(home, fetching, image, to, folder / STATE, lock)
        return _progress(to, told)
    finally:
        if lock is not None:
            os.close(lock)


def withdraw(home: Path, image: Reference, to: Destination) -> bool:
    """Send no more of it: True once nothing is being sent and the next push would begin anew. Raises OSError."""
    folder = _folder(home, image, to)
    if not folder.is_dir():
        return True
    lock = try_lock(folder / LOCK)
    if lock is None:
        (folder / WITHDRAWN).touch(mode=0o600)
        return False
    try:
        remove_tree(folder)
    finally:
        os.close(lock)
    return True


def _folder(home: Path, image: Reference, to: Destination) -> Path:
    where = hashlib.sha256(f"{to.repository}:{to.tag}".encode()).hexdigest()[:16]
    return home / saved.FOLDER / f"{image.digest.removeprefix('sha256:')}.{where}.push"


def _start(home: Path, fetching: Fetching, image: Reference, to: Destination, state: Path, lock: int) -> None:
    """It holds the lock for as long as it lives, whatever becomes of this process."""
    sources = fetching.sources
    job = {"image": asdict(image), "target": to.repository, "tag": to.tag, "home": str(home),
           "rules": asdict(fetching.rules), "certificates": fetching.certificates, "bearer": to.bearer}  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", BOOT, str(PROJECT), str(state)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        pass_fds=(lock,), env={**os.environ, **software_sources.proxy_variables(sources.proxy, sources.no_proxy)},
    )  # fmt: skip
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    with process.stdin as stdin:
        stdin.write(f"{json.dumps(job)}\n".encode())


def _state(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / STATE).read_bytes())
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def _progress(to: Destination, told: dict[str, Any]) -> Progress:
    sent, total = int(told.get("sent", 0)), int(told.get("total", 0))
    said = Said(Code.PUSHING, {"host": to.repository.partition("/")[0], "size": f"{total / 1e6:.1f} MB"})
    return Progress(said, min(1.0, sent / total) if total else None)
