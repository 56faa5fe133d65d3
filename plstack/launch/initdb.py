"""Runs initdb, which refuses root and every user id that has no name on the machine, as the servers' ids have none."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from plstack.launch import named
from plstack.launch.account import Account, former_account, give
from plstack.launch.report import Trouble
from plstack.launch.spawn import output_of


def initdb(
    argv: Sequence[object], account: Account, folders: Sequence[Path], *, cwd: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """`folders`: what it needs, owned by the account before and afterwards; the last one also takes a small file."""
    if os.geteuid() != 0:
        return output_of(argv, cwd=cwd, env=env)
    passwd = folders[-1] / "passwd"
    passwd.write_text(f"plstack:x:{account.uid}:{account.gid}::/:/bin/false\n")
    passwd.chmod(0o644)
    script = [sys.executable, "-I", "-S", named.__file__, account.uid, account.gid, passwd]
    try:
        done = output_of([*script, *argv], cwd=cwd, env=env)
    finally:
        passwd.unlink()
    return done if done.returncode != named.REFUSED else _as_another(argv, account, folders, cwd=cwd, env=env)


def _as_another(
    argv: Sequence[object], account: Account, folders: Sequence[Path], *, cwd: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """In a container that allows no mounts nobody else lives: there the machine's own account may make the files."""
    other = former_account()
    if other is None:
        raise Trouble("initdb needs an account with a name and there is no 'nobody': start as an ordinary user")
    for folder in folders:
        give(folder, other)
    try:
        return output_of(argv, cwd=cwd, env=env, account=other)
    finally:
        for folder in folders:
            give(folder, account)
