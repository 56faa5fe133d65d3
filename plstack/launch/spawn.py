"""Start the embedded servers and short helper programs."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from plstack.launch.account import Account

CHILD = Path(__file__).with_name("child.py")


def start_server(
    argv: Sequence[object], account: Account, log: Path, cwd: Path, *, on_parent_death: signal.Signals
) -> "subprocess.Popen[bytes]":
    """Start a long-lived server in its own session, with its output appended to `log`.

    Call it from the main thread: the kernel ties the parent-death signal to the thread that forked.
    """
    wrapper = [sys.executable, "-I", "-S", str(CHILD), str(os.getpid()), str(int(on_parent_death))]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*wrapper, str(account.uid), str(account.gid), *map(str, argv)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"},
            start_new_session=True,
        )


def run_captured(
    argv: Sequence[object],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    account: Account | None = None,
    stdin: str = "",
    keep: Sequence[int] = (),
) -> "subprocess.CompletedProcess[str]":
    """Run a program and capture stdout and stderr together. `keep`: descriptors that it inherits."""
    switch = account is not None and os.geteuid() == 0 and account.uid != 0
    return subprocess.run(
        [str(part) for part in argv],
        cwd=cwd,
        env=env,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        user=account.uid if switch and account else None,
        group=account.gid if switch and account else None,
        extra_groups=[] if switch else None,
        pass_fds=keep,
    )


def last_line(text: str, *marks: str) -> str:
    """The last line that contains one of the marks, else the last line that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if any(mark in line for mark in marks)]
    return (marked or lines or ["no output"])[-1]
