"""The process that runs one attempt and outlives whoever started it. Standard library only.

Started as `python -I -S -c BOOT <project> <run directory>`; it detaches, takes the attempt's lock for as long as it
lives, and goes through the phases once. A run directory that has a state was begun by a shim, so it is never run again.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from apps.workloads.drivers.base import (
    DriverError,
)
from apps.workloads.drivers.local.attempt import Shim
from apps.workloads.drivers.local.environment import shim_environment
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.linux import PR_SET_CHILD_SUBREAPER, prctl, try_lock
from apps.workloads.drivers.local.records import RunDirectory, RunSpec, decode_spec
from apps.workloads.drivers.said import Code, Said

BOOT = "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local import shim; shim.main(sys.argv[2])"
PROJECT = Path(__file__).resolve().parents[4]
LOCK_WAIT_S = 5.0
START_TIMEOUT_S = 30.0


def start(run: RunDirectory, secrets: Sequence[str] = ()) -> None:
    """Returns when a shim holds the attempt; a second one finds the first one's lock and leaves. Raises DriverError.

    `secrets`: the values of the request's, in its order. They go through a pipe and stay in the shim's memory.
    """
    argv = [sys.executable, "-I", "-S", "-c", BOOT, str(PROJECT), str(run.path)]
    try:
        done = subprocess.run(
            argv, input=json.dumps(list(secrets)).encode(), capture_output=True, cwd="/", env=shim_environment(run),
            start_new_session=True, timeout=START_TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise DriverError(Said(Code.SHIM_SILENT)) from error
    if done.returncode != 0:
        text = done.stderr.decode(errors="replace")[-500:]
        raise DriverError(Said(Code.SHIM_FAILED, {"error": text}))


def main(directory: str) -> None:
    """Returns in the starting process, with exit code 0, once the attempt is safely in the shim's hands."""
    run = RunDirectory(Path(directory))
    secrets: list[str] = json.loads(sys.stdin.buffer.read() or b"[]")
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        sys.exit(0 if os.read(reader, 1) else 1)
    os.close(reader)
    _detach(run)
    lock = _take(run)
    journal = None
    if lock is not None and not run.state.exists():
        journal = Journal(run)
        journal.beat(force=True)
    if run.state.exists():
        os.write(writer, b"1")
    os.close(writer)
    if journal is not None and run.state.exists():
        Shim(run, with_values(decode_spec(run.spec.read_bytes()), secrets), journal).run()
    os._exit(0)


def with_values(spec: RunSpec, values: Sequence[str]) -> RunSpec:
    """The record has the names alone. Raises ValueError where there are more or fewer than it names."""
    pairs = zip(spec.request.secrets, values, strict=True)
    secrets = tuple(replace(secret, value=value) for secret, value in pairs)
    return replace(spec, request=replace(spec.request, secrets=secrets))


def _detach(run: RunDirectory) -> None:
    os.setsid()
    os.chdir("/")
    os.umask(0o022)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    silence = os.open(os.devnull, os.O_RDWR)
    errors = os.open(run.shim_errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for target, source in ((0, silence), (1, errors), (2, errors)):
        os.dup2(source, target)
    for source in {silence, errors} - {0, 1, 2}:
        os.close(source)


def _take(run: RunDirectory) -> int | None:
    """The attempt's lock; None when another shim has it and has begun."""
    deadline = time.monotonic() + LOCK_WAIT_S
    while (lock := try_lock(run.lock)) is None:
        if run.state.exists() or time.monotonic() > deadline:
            return None
        time.sleep(0.02)
    return lock
