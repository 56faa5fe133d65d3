"""The system calls that a sandboxed workload has no use for, as a filter in the kernel's own language.

They are the usual ways from a process without privileges into the kernel: namespaces and mounts of its own, the key
ring, BPF, performance events, io_uring, userfaultfd. Sockets are of the local and internet families only: a network
namespace does not cut off others, AF_VSOCK reaches the hypervisor, and AF_PACKET, AF_ALG and their like are where the
kernel's holes are found. Of AF_NETLINK, the routing protocol stays: getifaddrs(3) of the C library has no other way to
list interfaces, and Jupyter, Node.js, gloo and NCCL call it.

Layouts: linux/filter.h (struct sock_filter), linux/seccomp.h (struct seccomp_data); call numbers: asm/unistd_64.h of
each architecture, and asm-generic/unistd.h from 424 on.
"""

import errno
import os
import platform
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_LOAD, _EQUAL, _GREATER_OR_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_OFFSET_CALL, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT, _OFFSET_THIRD_ARGUMENT = 0, 4, 16, 32
_CLONE_NEWUSER = 0x10000000
_X32_BIT = 0x40000000
# io_uring_*, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
_SINCE_424 = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442)
_CLONE3 = 435
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_AF_NETLINK, _NETLINK_ROUTE = 16, 0


@dataclass(frozen=True, slots=True)
class Architecture:
    """`audit`: its AUDIT_ARCH_ constant. All supported ones are little-endian."""

    audit: int
    clone: int
    socket: int
    socketpair: int
    denied: tuple[int, ...]


# unshare, setns, mount, umount2, pivot_root, keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd,
# open_by_handle_at
_ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, 56, 41, 53, (272, 308, 165, 166, 155, 250, 248, 249, 321, 298, 323, 304)),
    "aarch64": Architecture(0xC00000B7, 220, 198, 199, (97, 268, 40, 39, 41, 219, 217, 218, 280, 241, 282, 265)),
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
    for call in (architecture.socket, architecture.socketpair):
        families = [*_families()]
        yield _step(_EQUAL, call, skip_unless=len(families))
        yield from families
    yield _step(_EQUAL, architecture.clone, skip_unless=3)
    yield _step(_LOAD, _OFFSET_FIRST_ARGUMENT)
    yield _step(_ANY_BIT, _CLONE_NEWUSER, skip_unless=1)
    yield _refuse(errno.EPERM)
    yield _step(_RETURN, _ALLOW)


def _families() -> Iterator[bytes]:
    """The end of socket(family, type, protocol): allowed, or refused as by a kernel without that family."""
    yield _step(_LOAD, _OFFSET_FIRST_ARGUMENT)
    for place, family in enumerate(_FAMILIES):
        # Past the other families, the three steps about AF_NETLINK and the refusal, to where it is allowed.
        yield _step(_EQUAL, family, skip_if=len(_FAMILIES) - place - 1 + 4)
    yield _step(_EQUAL, _AF_NETLINK, skip_unless=2)
    yield _step(_LOAD, _OFFSET_THIRD_ARGUMENT)
    yield _step(_EQUAL, _NETLINK_ROUTE, skip_if=1)
    yield _refuse(errno.EAFNOSUPPORT)
    yield _step(_RETURN, _ALLOW)


def _step(code: int, value: int, skip_if: int = 0, skip_unless: int = 0) -> bytes:
    return struct.pack("=HBBI", code, skip_if, skip_unless, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)
