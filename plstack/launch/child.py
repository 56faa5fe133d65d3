"""Executed as a script: `python -I -S child.py PARENT SIGNAL UID GID PROGRAM ARGUMENT...`.

Executes PROGRAM under that account and has the kernel send SIGNAL to it when PARENT dies, however it dies: a kill -9
of the supervisor leaves no server behind.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent: int, signal_number: int) -> None:
    """Request the signal at the parent's death; exit if the parent is already dead."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def drop_privileges(uid: int, gid: int) -> None:
    """Drop root's identity and groups; does nothing for an ordinary user."""
    if os.geteuid() == 0 and uid != 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


if __name__ == "__main__":
    expected_parent, number, to_uid, to_gid = map(int, sys.argv[1:5])
    drop_privileges(to_uid, to_gid)
    die_with(expected_parent, number)  # after setuid, which would clear it
    os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606  replacing this process is the point
