"""Executed as a script: `python -I -S named_account.py UID GID PASSWD PROGRAM ARGUMENT...`.

Executes PROGRAM under an account that is not in /etc/passwd, for a program (initdb) that refuses such accounts: in its
own mount namespace the file PASSWD, which names the account, replaces the system's. Exits with status `REFUSED` if a
container does not allow that.
"""

import ctypes
import os
import sys

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18
REFUSED = 77


def name_account(passwd: str) -> bool:
    """Mount `passwd` over the system's list of accounts for this process; returns whether that succeeded."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        return False
    return not libc.mount(os.fsencode(passwd), b"/etc/passwd", None, MS_BIND, None)


if __name__ == "__main__":
    if not name_account(sys.argv[3]):
        sys.exit(REFUSED)
    os.setgroups([])
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[1]))
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606  replacing this process is the point
