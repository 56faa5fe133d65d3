"""The system calls that a sandboxed workload has no use for, as a filter in the kernel's own language.

They are the usual ways from a process without privileges into the kernel: namespaces and mounts of its own, the key
ring, BPF, performance events, io_uring, userfaultfd. Layouts: linux/filter.h (struct sock_filter), linux/seccomp.h
(struct seccomp_data); call numbers: asm/unistd_64.h of each architecture, and asm-generic/unistd.h from 424 on.
"""

import errno
import os
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_LOAD, _EQUAL, _GREATER_OR_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_OFFSET_CALL, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT = 0, 4, 16
_CLONE_NEWUSER = 0x10000000
_X32_BIT = 0x40000000
# io_uring_*, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
_SINCE_424 = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442)
_CLONE3 = 435


@dataclass(frozen=True, slots=True)
class Architecture:
    """`audit`: its AUDIT_ARCH_ constant. All supported ones are little-endian."""

    audit: int
    clone: int
    denied: tuple[int, ...]


# unshare, setns, mount, umount2, pivot_root, keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd,
# open_by_handle_at
_ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, 56, (272, 308, 165, 166, 155, 250, 248, 249, 321, 298, 323, 304)),
    "aarch64": Architecture(0xC00000B7, 220, (97, 268, 40, 39, 41, 219, 217, 218, 280, 241, 282, 265)),
}


def open_filter() -> int | None:
    """A descriptor to read the filter from, once; None on an architecture that has none."""
    architecture = _ARCHITECTURES.get(platform.machine())
    if architecture is None:
        return None
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, b"".join(_program(architecture)))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _program(architecture: Architecture) -> Iterator[bytes]:
    yield _step(_LOAD, _OFFSET_ARCHITECTURE)
    yield _step(_EQUAL, architecture.audit, skip_if=1)
    yield _refuse(errno.ENOSYS)  # programs for another architecture, whose calls have other numbers
    yield _step(_LOAD, _OFFSET_CALL)
    yield _step(_GREATER_OR_EQUAL, _X32_BIT, skip_unless=1)
    yield _refuse(errno.ENOSYS)
    # Its flags are in memory, where no filter can look; with this answer the C library falls back to clone.
    yield _step(_EQUAL, _CLONE3, skip_unless=1)
    yield _refuse(errno.ENOSYS)
    for call in (*architecture.denied, *_SINCE_424):
        yield _step(_EQUAL, call, skip_unless=1)
        yield _refuse(errno.EPERM)
    yield _step(_EQUAL, architecture.clone, skip_unless=3)
    yield _step(_LOAD, _OFFSET_FIRST_ARGUMENT)
    yield _step(_ANY_BIT, _CLONE_NEWUSER, skip_unless=1)
    yield _refuse(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _step(code: int, value: int, skip_if: int = 0, skip_unless: int = 0) -> bytes:
    return struct.pack("=HBBI", code, skip_if, skip_unless, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)
