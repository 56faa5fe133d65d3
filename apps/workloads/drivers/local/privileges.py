"""Giving up privileges for good, in the sandbox's first process: part of it, so standard library only.

What is not in a process's bounding set can never be had again, by any program that it or its children start. See
capabilities(7), linux/capability.h, linux/securebits.h.
"""

import ctypes
import os

PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_SECUREBITS = 23, 24, 28
CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP = 5, 6, 7, 8
KEPT = 1 << CAP_KILL | 1 << CAP_SETGID | 1 << CAP_SETUID
"""To take on the tenant's user id, and to signal what runs under it."""
# User id 0 means nothing, no capability outlives a change of user id, none is handed on: each with its lock.
SECUREBITS = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7
VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Half(ctypes.Structure):
    """Of 64 capabilities, the lower or the upper 32."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def give_up() -> None:
    """Empties the bounding set and keeps at most `KEPT` for this process. Raises OSError where that fails."""
    for capability in range(64):
        held = _libc.prctl(PR_CAPBSET_READ, capability, 0, 0, 0)
        if held < 0:
            break
        if held:
            _call(_libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    header, halves = _Header(VERSION_3, 0), (_Half * 2)()
    _call(_libc.capget(ctypes.byref(header), halves))
    if halves[0].effective & 1 << CAP_SETPCAP:
        _call(_libc.prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0))
    for half, kept in zip(halves, (KEPT, 0), strict=True):
        half.effective &= kept
        half.permitted &= kept
        half.inheritable = 0
    _call(_libc.capset(ctypes.byref(header), halves))


def _call(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
