"""Lets programs of a build believe that they are root. Uses only the standard library: it runs in the sandbox.

Package managers give files to users and take on user ids; the sandbox has one id alone, to which all files of an image
belong. A filter in the kernel answers those system calls with success and does nothing, and says 0 to who asks for an
id. It gives no right that the sandbox does not have: what really needs root fails as before. Files end up as root's,
which is what every image has here. Charliecloud builds images in the same way ("--force=seccomp").

Layouts: linux/filter.h, linux/seccomp.h; call numbers: asm/unistd_64.h, and asm-generic/unistd.h for aarch64.
"""

import ctypes
import os
import platform
import stat
import struct
from collections.abc import Iterator
from typing import NamedTuple

LOAD, EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
OFFSET_CALL, OFFSET_ARCHITECTURE, OFFSET_ARGUMENTS = 0, 4, 16
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


class Calls(NamedTuple):
    """`audit`: the architecture's AUDIT_ARCH_ constant. `nodes`: calls that make nodes, and where their mode stands."""

    audit: int
    faked: tuple[int, ...]
    nodes: tuple[tuple[int, int], ...]


# get(e)uid, get(e)gid, set(re|res|fs)?[ug]id, setgroups, chown, fchown, lchown, fchownat, capset, [lf]?setxattr
_ARCHITECTURES = {
    "x86_64": Calls(
        0xC000003E,
        (102, 104, 107, 108, 105, 106, 113, 114, 117, 119, 122, 123, 116, 92, 93, 94, 260, 126, 188, 189, 190),
        ((133, 1), (259, 2)),
    ),
    "aarch64": Calls(
        0xC00000B7,
        (174, 175, 176, 177, 146, 144, 145, 143, 147, 149, 151, 152, 159, 55, 54, 91, 5, 6, 7),
        ((33, 2),),
    ),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def become() -> bool:
    """For this process and all that it starts; False on a machine for which there is no such filter. Raises OSError."""
    calls = _ARCHITECTURES.get(platform.machine())
    if calls is None:
        return False
    steps = list(_program(calls))
    text = ctypes.create_string_buffer(b"".join(steps))
    program = _Program(len(steps), ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                      (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):  # fmt: skip
        if libc.prctl(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    return True


def _program(calls: Calls) -> Iterator[bytes]:
    yield _step(LOAD, OFFSET_ARCHITECTURE)
    yield _step(EQUAL, calls.audit, skip_if=1)
    yield _step(RETURN, ALLOW)
    yield _step(LOAD, OFFSET_CALL)
    for call in calls.faked:
        yield _step(EQUAL, call, skip_unless=1)
        yield _step(RETURN, ERRNO)
    for call, argument in calls.nodes:  # devices alone: pipes and files are made
        yield _step(EQUAL, call, skip_unless=6)
        yield _step(LOAD, OFFSET_ARGUMENTS + 8 * argument)
        yield _step(AND, stat.S_IFMT(0o170000))
        yield _step(EQUAL, stat.S_IFCHR, skip_if=2)
        yield _step(EQUAL, stat.S_IFBLK, skip_if=1)
        yield _step(RETURN, ALLOW)
        yield _step(RETURN, ERRNO)
    yield _step(RETURN, ALLOW)


def _step(code: int, value: int, skip_if: int = 0, skip_unless: int = 0) -> bytes:
    return struct.pack("=HBBI", code, skip_if, skip_unless, value)
