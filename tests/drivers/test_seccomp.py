"""The filter of system calls, read as the kernel reads it, for both architectures on any machine."""

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.local import seccomp
from apps.workloads.drivers.local.seccomp import Architecture
from tests.drivers.bpf import Call, answer

ARCHITECTURES = {
    "x86_64": {"audit": 0xC000003E, "socket": 41, "socketpair": 53, "clone": 56, "read": 0, "unshare": 272},
    "aarch64": {"audit": 0xC00000B7, "socket": 198, "socketpair": 199, "clone": 220, "read": 63, "unshare": 97},
}
I386, ARM = 0x40000003, 0x40000028
UNIX, INET, INET6, NETLINK, PACKET, ALG, VSOCK = 1, 2, 10, 16, 17, 38, 40
both = pytest.mark.parametrize("name", ARCHITECTURES)


def program(name: str) -> bytes:
    architecture: Architecture = seccomp._ARCHITECTURES[name]
    return b"".join(seccomp._program(architecture))


def ask(name: str, call: str, *arguments: int) -> int:
    numbers = ARCHITECTURES[name]
    return answer(program(name), Call(numbers["audit"], numbers[call], arguments))


@both
def test_ordinary_calls_are_allowed(name: str) -> None:
    assert ask(name, "read", 0) == 0
    assert ask(name, "clone", 0x11) == 0
    assert ask(name, "clone", 0x10000000) == errno.EPERM
    assert ask(name, "unshare", 0) == errno.EPERM


@both
@pytest.mark.parametrize("call", ["socket", "socketpair"])
@given(
    family=st.integers(0, 2**32 - 1) | st.integers(0, 64), kind=st.integers(0, 2**32 - 1), protocol=st.integers(0, 30)
)
def test_sockets_are_local_or_of_the_internet(name: str, call: str, family: int, kind: int, protocol: int) -> None:
    allowed = family in (UNIX, INET, INET6) or (family, protocol) == (NETLINK, 0)
    assert ask(name, call, family, kind, protocol) == (0 if allowed else errno.EAFNOSUPPORT)


@both
@pytest.mark.parametrize("family", [PACKET, ALG, VSOCK])
def test_what_lies_above_the_kernels_int_changes_nothing(name: str, family: int) -> None:
    assert ask(name, "socket", family | 1 << 32, 1, 0) == errno.EAFNOSUPPORT
    assert ask(name, "socket", INET | 1 << 32, 1, 0) == 0


@both
@given(number=st.integers(0, 2**32 - 1))
def test_programs_of_another_architecture_call_nothing(name: str, number: int) -> None:
    other = I386 if name == "x86_64" else ARM
    assert answer(program(name), Call(other, number)) == errno.ENOSYS
    assert answer(program(name), Call(ARCHITECTURES[name]["audit"], number | 0x40000000)) == errno.ENOSYS
