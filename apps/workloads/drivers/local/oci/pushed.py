"""Images on their way into a registry: `saved/<digest>.<destination>.push/` has state and lock of what sends one.

Whoever asks starts the process where none runs, and reads how far it is. Standard library only.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from apps.workloads.drivers import software_sources
from apps.workloads.drivers.base import DriverError, Progress, Reference
from apps.workloads.drivers.images import Destination
from apps.workloads.drivers.local.linux import is_locked, remove_tree, try_lock
from apps.workloads.drivers.local.oci import saved
from apps.workloads.drivers.local.oci.prepare import PROJECT
from apps.workloads.drivers.local.records import RunSpec
from apps.workloads.drivers.said import Code, Said

BOOT = "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local.oci import pushing; pushing.main()"
STATE, LOCK = "state.json", "lock"
FORGET_S = 7 * 86_400.0


def push(home: Path, spec: RunSpec, image: Reference, to: Destination) -> Progress | None:
    """None once it is there. Raises DriverError, OSError, ValueError."""
    layout = home / saved.FOLDER / image.digest.removeprefix("sha256:")
    where = hashlib.sha256(f"{to.repository}:{to.tag}".encode()).hexdigest()[:16]
    folder = layout.with_name(f"{layout.name}.{where}.push")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = try_lock(folder / LOCK)
    try:
        told = _state(folder)
        if lock is None:
            return _progress(to, told)
        if told.get("done") is True:
            _drop(layout, folder)
            return None
        if "failed" in told:
            (folder / STATE).unlink()
            raise DriverError(Said.from_json(told["failed"]))
        _start(home, spec, image, to, folder / STATE, lock)
        return _progress(to, told)
    finally:
        if lock is not None:
            os.close(lock)


def _drop(layout: Path, own: Path) -> None:
    """The registry has it now. Not while it is sent elsewhere, too; what was asked for long ago is forgotten."""
    others = [lock for lock in layout.parent.glob(f"{layout.name}.*.push/{LOCK}") if lock.parent != own]
    if not any(map(is_locked, others)):
        remove_tree(layout)
    for folder in layout.parent.glob("*.push"):
        if time.time() - folder.stat().st_mtime > FORGET_S:
            remove_tree(folder)


def _start(home: Path, spec: RunSpec, image: Reference, to: Destination, state: Path, lock: int) -> None:
    """It holds the lock for as long as it lives, whatever becomes of this process."""
    sources = spec.request.sources
    job = {"image": asdict(image), "target": to.repository, "tag": to.tag, "home": str(home),
           "rules": asdict(spec.request.pull), "certificates": spec.certificates, "bearer": to.bearer}  # fmt: skip
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
