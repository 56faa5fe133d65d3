"""The image phase of a run in a container image: its process is followed, told of and ended. Standard library only."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import PULL_CREDENTIAL, LaunchRequest, Progress, Reference
from apps.workloads.drivers.local.environment import DEFAULT_PATH, argv_of, is_inside, workdir_of
from apps.workloads.drivers.local.oci import confined
from apps.workloads.drivers.local.oci.manifest import ImageConfig
from apps.workloads.drivers.local.oci.store import Store
from apps.workloads.drivers.local.runtime import ImageFailed, output_lines
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.drivers.said import Code, Said

PROJECT = Path(__file__).resolve().parents[5]
BOOT = "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local.oci import pull; pull.main()"
SHELLS = frozenset({"sh", "bash", "dash", "ash", "/bin/sh", "/bin/bash", "/usr/bin/bash", "/usr/bin/sh"})


@dataclass(frozen=True, slots=True)
class Unpacked:
    """An image as a run finds it. `held`: the descriptor that keeps it here while the run lives."""

    tree: Path
    config: ImageConfig
    held: int


def prepare(
    request: LaunchRequest,
    image: Reference,
    home: Path,
    report: Callable[[Progress], None],
    tick: Callable[[], None],
    variables: Mapping[str, str],
    certificates: str = "",
    credential: str = PULL_CREDENTIAL,
) -> Unpacked:
    """The unpacked image, fetched where it is missing. `tick` is called four times a second and may raise to give up.

    `credential`: the secret of the request with which it is fetched.

    Raises ImageFailed, OSError, or what `tick` raises.
    """
    store = Store(home)
    held = store.hold(image)
    if not store.has(image):
        bearer = next((each.value for each in request.secrets if each.name == credential), None) or ""
        job = {"image": asdict(image), "home": str(home), "rules": asdict(request.pull), "certificates": certificates,
               "bearer": bearer}  # fmt: skip
        _follow(json.dumps(job), report, tick, variables)
    return Unpacked(store.tree(image), store.config(image), held)


def _follow(
    job: str, report: Callable[[Progress], None], tick: Callable[[], None], variables: Mapping[str, str]
) -> None:
    argv = [sys.executable, "-I", "-S", "-c", BOOT, str(PROJECT)]
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **variables}, start_new_session=True,
    )  # fmt: skip
    done, last = False, ""
    try:
        assert process.stdin is not None  # noqa: S101 - a pipe was asked for
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(f"{job}\n".encode())
        for line in output_lines(process):
            done = _heed(line, report) or done
            last = line or last
            tick()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not done:
        raise ImageFailed(output=last or f"The process that fetches images ended with {process.returncode}")


def _heed(line: str, report: Callable[[Progress], None]) -> bool:
    """Whether it says that all is done. Raises ImageFailed where it says that nothing will be."""
    message: dict[str, Any] = {}
    with suppress(ValueError):
        message = json.loads(line)
    if "failed" in message:
        raise ImageFailed(Said.from_json(message["failed"]))
    if "said" in message:
        report(Progress(Said.from_json(message["said"]), message["fraction"]))
    return "done" in message


def check_program(request: LaunchRequest, image: Reference, unpacked: Unpacked) -> None:
    """Raises ImageFailed where the program is neither in the image nor in a mount."""
    argv = argv_of(request, unpacked.config)
    if not argv:
        raise ImageFailed(Said(Code.NO_COMMAND))
    # What the platform starts there starts the image's shell, before all else.
    program = "sh" if argv[0] == MACHINE_PYTHON else argv[0]
    path = request.env.get("PATH") or unpacked.config.env.get("PATH") or DEFAULT_PATH
    workdir = workdir_of(request, unpacked.config)
    folders = [os.path.dirname(os.path.join(workdir, program))] if "/" in program else path.split(":")
    candidates = [os.path.join(folder, program.rpartition("/")[2]) for folder in folders if folder.startswith("/")]
    if any(is_inside(candidate, mount.target) for candidate in candidates for mount in request.mounts):
        return
    root = os.open(unpacked.tree, confined.FOLDER)
    try:
        if any(_is_there(root, candidate) for candidate in candidates):
            return
    finally:
        os.close(root)
    code = Code.NO_SHELL_IN_IMAGE if program in SHELLS else Code.NOT_IN_IMAGE
    raise ImageFailed(Said(code, {"program": program[:200], "image": image.name}))


def _is_there(root: int, path: str) -> bool:
    try:
        os.close(confined.open_in(root, path, os.O_PATH))
    except OSError:
        return False
    return True
