"""Level L1: what of the kernel a program reaches, started by launch or by exec. Each table has controls that work."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from apps.workloads.drivers.local import sandbox
from tests.drivers.kit import Kit, eventually
from tests.drivers.test_local_isolation import STATUS, TRY_EACH, attempt

Try = Callable[[dict[str, str]], dict[str, Any]]
SOCKET = "import socket; socket.socket({family}, {kind}, {protocol}).close()"


def by_exec(kit: Kit, programs: dict[str, str]) -> dict[str, Any]:
    """As `attempt`, by a command run beside the workload's own program."""
    handle = kit.launch(kit.python("import time; print('ready'); time.sleep(60)"))
    kit.wait_output(handle, "ready")
    stream = kit.driver.exec(handle, ["python", "-c", TRY_EACH, json.dumps(programs)])
    output = b""
    while data := stream.read():
        output += data
    stream.close()
    kit.driver.stop(handle, 0)
    kit.wait(handle)
    results: dict[str, Any] = json.loads(output)
    return results


@pytest.fixture(params=["launch", "exec"])
def tried(request: pytest.FixtureRequest, isolated: Kit) -> Try:
    return lambda programs: (attempt if request.param == "launch" else by_exec)(isolated, programs)


def test_which_sockets_can_be_made(tried: Try) -> None:
    families = {
        "unix": SOCKET.format(family=1, kind=1, protocol=0),
        "internet": SOCKET.format(family=2, kind=1, protocol=0),
        "internet_6": SOCKET.format(family=10, kind=2, protocol=0),
        "routes": SOCKET.format(family=16, kind=3, protocol=0),
        "pair": "import socket; socket.socketpair()",
        "uevents": SOCKET.format(family=16, kind=3, protocol=15),
        "audit": SOCKET.format(family=16, kind=3, protocol=9),
        "packets": SOCKET.format(family=17, kind=3, protocol=3),
        "crypto": SOCKET.format(family=38, kind=5, protocol=0),
        "hypervisor": SOCKET.format(family=40, kind=1, protocol=0),
        "tipc": SOCKET.format(family=30, kind=1, protocol=0),
        "xdp": SOCKET.format(family=44, kind=3, protocol=0),
    }
    numbered = {
        name: f"try:\n {source}\n found = 0\nexcept OSError as error:\n found = error.errno"
        for name, source in families.items()
    }
    seen = tried(numbered)
    allowed = {"unix", "internet", "internet_6", "routes", "pair"}
    assert {name for name, number in seen.items() if number == 0} == allowed
    assert {seen[name] for name in set(families) - allowed} == {97}  # EAFNOSUPPORT


def test_what_programs_do_with_sockets_still_works(tried: Try) -> None:
    seen = tried(
        {
            "interfaces": "import socket; found = [name for _, name in socket.if_nameindex()]",
            "addresses": (
                "import ctypes; pointer = ctypes.c_void_p(); "
                "found = ctypes.CDLL(None).getifaddrs(ctypes.byref(pointer))"
            ),
            "names": "import socket; found = socket.getaddrinfo('localhost', 80)[0][4][1]",
            "loop": "import asyncio; found = asyncio.run(asyncio.sleep(0, 'ran'))",
            "served": (
                "import socket, threading; s = socket.create_server(('127.0.0.1', 0)); "
                "c = socket.create_connection(s.getsockname()); s.accept()[0].sendall(b'x'); found = len(c.recv(1))"
            ),
            "processes": "import multiprocessing as m; p = m.get_context('spawn').Pool(1); p.terminate()",
            "shared": (
                "from multiprocessing import shared_memory; "
                "s = shared_memory.SharedMemory(create=True, size=9); s.unlink()"
            ),
        }
    )
    assert seen == {
        "interfaces": ["lo"],
        "addresses": 0,
        "names": 80,
        "loop": "ran",
        "served": 1,
        "processes": "done",
        "shared": "done",
    }


def test_no_capability_can_ever_be_had_again(tried: Try) -> None:
    names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    seen = tried(
        {
            "own": STATUS + f"found = [status[name].strip() for name in {names}]",
            "first": STATUS.replace("self", "1") + "found = [status[n].strip() for n in ('CapBnd', 'CapPrm')]",
            "bits": "import ctypes; found = ctypes.CDLL(None).prctl(27, 0, 0, 0, 0)",
            "user": "import os; os.setuid(0)",
            "no_new": STATUS + "found = [status['NoNewPrivs'].strip(), status['Seccomp'].strip()]",
        }
    )
    assert set(seen["own"]) == {"0" * 16}
    assert seen["first"][0] == "0" * 16
    assert int(seen["first"][1], 16) & ~0b1110_0000 == 0
    assert seen["user"] == "PermissionError"
    assert seen["no_new"] == ["1", "2"]
    if os.geteuid() == 0:
        assert seen["bits"] & 0b1110_0011 == 0b1110_0011


def test_what_proc_tells_of_the_machine(tried: Try) -> None:
    """Hidden files read as empty: programs that look find nothing, rather than an error that they do not expect."""
    hidden = [name for name in sandbox._HIDDEN_FILES if os.path.exists(f"/proc/{name}")]
    assert {"cmdline", "kallsyms", "keys", "timer_list"} <= set(hidden)
    folders = [name for name in sandbox._HIDDEN_FOLDERS if os.path.isdir(f"/proc/{name}")]
    shown = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "filesystems", "self/status", "sys/kernel/osrelease")
    writes = ("sysrq-trigger", "sys/kernel/core_pattern", "irq/default_smp_affinity")
    programs = {name: f"found = len(open('/proc/{name}').read())" for name in (*hidden, *shown)}
    programs |= {name: f"import os; found = os.listdir('/proc/{name}')" for name in folders}
    programs |= {f"write {name}": f"open('/proc/{name}', 'w').write('0')" for name in writes if name not in hidden}
    seen = tried(programs)
    assert {name: seen[name] for name in hidden} == dict.fromkeys(hidden, 0)
    assert {name: seen[name] for name in folders} == {name: [] for name in folders}
    assert all(seen[name] > 0 for name in shown)
    assert not [name for name in writes if seen.get(f"write {name}") == "done"]


def test_folders_that_only_hold_mounts_take_no_files(tried: Try) -> None:
    places = ("/", "/dev", "/run", "/run/plstack", "/etc", "/proc", "/sys", "/workspace", "/dev/shm", "/tmp")
    seen = tried({place: f"open('{place}/x', 'w')" for place in places})
    assert {place for place, result in seen.items() if result == "done"} == {"/dev/shm", "/tmp"}
    devices = tried(
        {"null": "open('/dev/null', 'w').write('x')", "random": "found = len(open('/dev/urandom', 'rb').read(4))"}
    )
    assert devices == {"null": "done", "random": 4}
    terminal = tried({"terminal": "import os; os.openpty()"})
    assert terminal == {"terminal": "done"}


def test_a_program_of_another_architecture_calls_nothing(isolated: Kit) -> None:
    """int 0x80 is the 32-bit way into the kernel, where numbers mean other calls: 359 is socket(2) there."""
    source = """
import ctypes, mmap, platform
if platform.machine() == "x86_64":
    code = bytes.fromhex("53b86701000031db31c931d2cd805bc3")
    area = mmap.mmap(-1, 4096, prot=7)
    area.write(code)
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(area)))
    print(call())
else:
    print(-38)
"""
    handle = isolated.launch(isolated.python(source))
    eventually(lambda: isolated.driver.observe(handle), lambda seen: seen.phase.is_final)
    assert isolated.text(handle) == "-38\n"  # ENOSYS
