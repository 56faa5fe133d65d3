"""Run initdb, which refuses root and user ids without a name on the machine, like those of the servers."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from plstack.launch import named_account
from plstack.launch.account import Account, change_owner, former_account
from plstack.launch.report import Trouble
from plstack.launch.spawn import run_captured


def initdb(
    argv: Sequence[object], account: Account, folders: Sequence[Path], *, cwd: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run initdb as the account. `folders`: those it needs, owned by the account; the last also gets a small file."""
    if os.geteuid() != 0:
        return run_captured(argv, cwd=cwd, env=env)
    passwd = folders[-1] / "passwd"
    passwd.write_text(f"plstack:x:{account.uid}:{account.gid}::/:/bin/false\n")
    passwd.chmod(0o644)
    script = [sys.executable, "-I", "-S", named_account.__file__, account.uid, account.gid, passwd]
    try:
        done = run_captured([*script, *argv], cwd=cwd, env=env)
    finally:
        passwd.unlink()
    return (
        done
        if done.returncode != named_account.REFUSED
        else _as_former_account(argv, account, folders, cwd=cwd, env=env)
    )


def _as_former_account(
    argv: Sequence[object], account: Account, folders: Sequence[Path], *, cwd: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run as `nobody` or `daemon` if the container allows no mounts: nothing else runs under them there."""
    other = former_account()
    if other is None:
        raise Trouble("initdb needs an account with a name and there is no 'nobody': start as an ordinary user")
    for folder in folders:
        change_owner(folder, other)
    try:
        return run_captured(argv, cwd=cwd, env=env, account=other)
    finally:
        for folder in folders:
            change_owner(folder, account)
