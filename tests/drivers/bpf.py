"""The kernel's own reading of a seccomp filter (linux/filter.h), for the few instructions that the filter has."""

import struct
from dataclasses import dataclass

ALLOW = 0x7FFF0000
ERRNO = 0x00050000


@dataclass(frozen=True, slots=True)
class Call:
    """One system call. `audit`: the AUDIT_ARCH_ constant of the program that makes it."""

    audit: int
    number: int
    arguments: tuple[int, ...] = ()

    def packed(self) -> bytes:
        """As struct seccomp_data."""
        return struct.pack("<IIQ6Q", self.number, self.audit, 0, *(self.arguments + (0,) * 6)[:6])


def answer(program: bytes, call: Call) -> int:
    """0 where the call is allowed, else the error number that it gets."""
    steps = list(struct.iter_unpack("<HBBI", program))
    data, loaded, at = call.packed(), 0, 0
    while True:
        code, skip_if, skip_unless, value = steps[at]
        at += 1
        if code == 0x06:
            return 0 if value == ALLOW else value & ~ERRNO
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
            continue
        is_true = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
        at += skip_if if is_true else skip_unless
