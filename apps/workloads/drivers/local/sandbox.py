"""Level L1: the bubblewrap command line of a workload, and whether this machine can really run it.

Inside: own process, network, IPC, host and mount namespaces; the system's programs and libraries read-only; the runtime
read-only; its own /tmp, /dev and /proc; its mounts; nothing else. As root, the sandbox's first process keeps only the
capabilities to take on the tenant's user id and to signal it; otherwise a user namespace holds all of it.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.channel import relay
from apps.workloads.drivers.local import init, port_relay, privileges, seccomp
from apps.workloads.drivers.local.environment import SANDBOX_PORTS, SANDBOX_SECRETS, SANDBOX_TMP, is_inside
from apps.workloads.drivers.local.runtime import BASE_PREFIX, BASE_PYTHON
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.said import Code, Said

PROJECT = Path(init.__file__).resolve().parents[4]
LIBRARY_INSIDE = "/run/plstack/lib"
_FIRST_PROCESS = [Path(str(module.__file__)).resolve() for module in (init, port_relay, privileges, relay)]
INIT_INSIDE = f"{LIBRARY_INSIDE}/{_FIRST_PROCESS[0].relative_to(PROJECT)}"
PROBE_TIMEOUT_S = 20
MAX_ERROR = 160
SECRETS_BYTES = 4 * 1024 * 1024
RUN_BYTES = 64 * 1024 * 1024
_PROBE = (
    "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local import privileges; "
    "privileges.give_up(); print('inside')"
)
OWN_FOLDERS = ("/proc", "/dev", "/run", "/sys", "/etc", SANDBOX_TMP)
"""Where the platform mounts its own, whatever an image has there."""
RESERVED = ("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr")
_ETC = ("alternatives", "ca-certificates", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
        "mime.types", "OpenCL", "pki", "ssl", "vulkan")  # fmt: skip
# What tells of the machine's kernel, memory layout, hardware and keys, and of nothing that a program needs: libraries
# read cpuinfo, meminfo, stat, vmstat, loadavg, uptime, diskstats, filesystems, devices, driver/nvidia and sys.
_HIDDEN_FILES = ("buddyinfo", "bootconfig", "cmdline", "config.gz", "consoles", "crypto", "dma", "execdomains", "fb",
                 "interrupts", "iomem", "ioports", "kallsyms", "kcore", "key-users", "keys", "kmsg", "kpagecgroup",
                 "kpagecount", "kpageflags", "latency_stats", "locks", "mdstat", "mtrr", "pagetypeinfo",
                 "sched_debug", "schedstat", "slabinfo", "softirqs", "swaps", "sysrq-trigger", "timer_list",
                 "timer_stats", "vmallocinfo", "zoneinfo")  # fmt: skip
_HIDDEN_FOLDERS = ("acpi", "asound", "dynamic_debug", "fs", "irq", "scsi", "tty")
_RDMA_CLASSES = ("/sys/class/infiniband", "/sys/class/infiniband_verbs", "/sys/class/infiniband_cm")
_ETC_NETWORK = ("gai.conf", "host.conf", "nsswitch.conf", "protocols", "resolv.conf", "services")


@dataclass(frozen=True, slots=True)
class View:
    """What the sandbox shows. `read_only`: folders of the host that it shows in their own place.

    `secrets`: a folder in memory for their files, which the first process fills as the workload's user. `gang_network`:
    the namespace that it joins instead of having a network of its own. `root`: the tree that stands in for the
    machine's system, with all places in it that something is mounted on; then `python` is what the first process needs.
    `builds`: its /run may be written to. `rdma`: device nodes, from the machine's to the one inside; without any, no
    RDMA device is seen, whatever else is.
    """

    mounts: Sequence[HostMount] = ()
    read_only: Sequence[Path] = ()
    devices: Sequence[Path] = ()
    rdma: Sequence[tuple[str, str]] = ()
    etc: Path | None = None
    network: bool = False
    shared_memory_mib: int = 64
    secrets: bool = False
    gang_network: Path | None = None
    root: str = ""
    python: Sequence[HostMount] = ()
    builds: bool = False


def arguments(view: View, seccomp_filter: int | None) -> list[str]:
    """The command line up to and without the program to run. `seccomp_filter`: a descriptor that it inherits."""
    enter = ("nsenter", f"--net={view.gang_network}", "--") if view.gang_network is not None else ()
    return [
        *(*enter, executable() or "bwrap", "--die-with-parent", "--new-session", "--as-pid-1"),
        *_namespaces(view.network or view.gang_network is not None),
        *(_image(view) if view.root else _system()),
        *_kernel(view.shared_memory_mib),
        *_own(view),
        *_first_process(),
        *_closed(view),
        *(("--seccomp", str(seccomp_filter)) if seccomp_filter is not None else ()),
        *("--chdir", "/", "--"),
    ]


def init_command(library: str = LIBRARY_INSIDE, python: Sequence[str] = (str(BASE_PYTHON),)) -> list[str]:
    """The first process, which takes the descriptors of its channel and its exec socket as further arguments."""
    return [*python, "-I", "-S", "-c", init.BOOT, library]


def _first_process() -> Iterable[str]:
    """Its own few files, and none other of the platform's."""
    for path in _FIRST_PROCESS:
        yield from ("--ro-bind", str(path), f"{LIBRARY_INSIDE}/{path.relative_to(PROJECT)}")


def _namespaces(shares_network: bool) -> Iterable[str]:
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "workload")
    if not shares_network:
        yield "--unshare-net"
    yield from ("--cap-drop", "ALL")
    if os.geteuid() == 0:
        # The last is for giving up all others for good, itself included: bubblewrap leaves root's bounding set full.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SETPCAP"):
            yield from ("--cap-add", capability)
    else:
        yield "--unshare-user"
        if _supports("--disable-userns"):
            yield "--disable-userns"


def _image(view: View) -> Iterable[str]:
    """The image's tree; of /run and /sys it shows nothing. Its C library has no say in the first process."""
    yield from ("--bind", view.root, "/")
    yield from (*_size(RUN_BYTES), "--perms", "1777") if view.builds else ("--perms", "0755")
    yield from ("--tmpfs", "/run", "--perms", "0755", "--tmpfs", "/sys")
    yield from (*_parents("/sys/devices/x"), *_parents(INIT_INSIDE), "--setenv", "LC_ALL", "C")
    for mount in view.python:
        yield from (*_parents(mount.target), "--ro-bind", mount.source, mount.target)


def _kernel(shared_memory_mib: int) -> Iterable[str]:
    yield from ("--proc", "/proc", "--dev", "/dev")
    # Shared memory for data loaders: any user of the sandbox may write, as on a machine.
    size = _size(shared_memory_mib * 1024 * 1024)
    yield from ("--perms", "1777", *size, "--tmpfs", "/dev/shm")  # noqa: S108
    yield from ("--ro-bind-try", "/sys/devices/system", "/sys/devices/system")


def _system() -> Iterable[str]:
    for below in ("/etc/x", "/sys/devices/x", INIT_INSIDE):
        yield from _parents(below)
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        directory = Path("/", name)
        if directory.is_symlink():
            yield from ("--symlink", os.readlink(directory), str(directory))
        elif directory.is_dir():
            yield from ("--ro-bind", str(directory), str(directory))
    java = sorted(path.name for path in Path("/etc").glob("java-*-openjdk"))  # where Debian's Java has its settings
    for name in (*_ETC, *java):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _closed(view: View) -> Iterable[str]:
    """Hides what /proc tells of the machine, and closes the folders that only hold mounts to further files.

    Those are in memory without a size of their own; where the sandbox has but one user id, it owns them.
    """
    for name in _HIDDEN_FILES:
        if os.path.exists(f"/proc/{name}"):
            yield from ("--dev-bind", "/dev/null", f"/proc/{name}")
    for name in _HIDDEN_FOLDERS:
        if os.path.isdir(f"/proc/{name}"):
            yield from _size(4096)
            yield from ("--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}")
    closed = ("/dev", "/sys", *(() if view.builds else ("/run",))) if view.root else ("/dev", "/")
    for folder in closed:
        yield from ("--remount-ro", folder)


def _own(view: View) -> Iterable[str]:
    system = [] if view.root or is_inside(str(BASE_PREFIX), "/usr") else [BASE_PREFIX]
    fixed = [HostMount(str(path), str(path), read_only=True) for path in [*system, *view.read_only]]
    # What is mounted on a path inside another mount has to come after it.
    for mount in sorted([*view.mounts, *fixed], key=lambda mount: mount.target.count("/")):
        yield from _parents(mount.target)
        yield from ("--ro-bind" if mount.read_only else "--bind", mount.source, mount.target)
    yield from _devices(view)
    if view.secrets:
        yield from _parents(SANDBOX_SECRETS)
        yield from ("--perms", "1777", *_size(SECRETS_BYTES), "--tmpfs", SANDBOX_SECRETS)
    if view.etc is not None:
        for path in sorted(view.etc.iterdir()):
            yield from ("--ro-bind", str(path), f"/etc/{path.name}")
    if view.network:
        for name in _ETC_NETWORK:
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _devices(view: View) -> Iterable[str]:
    """With what their libraries read of them in /sys, where adapters that are not given out are hidden."""
    for path in view.devices:
        yield from ("--dev-bind", str(path), str(path))
    for source, inside in view.rdma:
        yield from (*_parents(inside), "--dev-bind", source, inside)
    if view.devices or view.rdma:
        for directory in ("/sys/bus/pci", "/sys/devices", "/sys/module", "/sys/class"):
            yield from ("--ro-bind-try", directory, directory)
    if view.devices and not view.rdma:
        for directory in _RDMA_CLASSES:
            if os.path.isdir(directory):
                yield from (*_size(4096), "--tmpfs", directory, "--remount-ro", directory)


def _size(size: int) -> Sequence[str]:
    """Of the file system in memory that follows, in bytes."""
    return ("--size", str(size)) if _supports("--size") else ()


def _parents(target: str) -> Iterable[str]:
    """Left to itself, bubblewrap would make them with the source's permissions, closed to a tenant's user id."""
    for parent in reversed(Path(target).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(parent))


def places(view: View) -> tuple[list[str], list[str]]:
    """The folders and the files of an image's tree that something is mounted on, those above a place before it."""
    folders, files = [*OWN_FOLDERS], list[str]()
    for mount in view.mounts:
        if not any(is_inside(mount.target, folder) for folder in ("/run", "/dev", SANDBOX_TMP)):
            (folders if os.path.isdir(mount.source) else files).append(mount.target)
    names = [path.name for path in view.etc.iterdir()] if view.etc is not None else []
    names += [name for name in _ETC_NETWORK if view.network and os.path.exists(f"/etc/{name}")]
    return folders, [*files, *(f"/etc/{name}" for name in names)]


def write_etc(directory: Path, uid: int, members: str = "", *, names_user: bool = True) -> None:
    """The few files of /etc that name the sandbox's own user and host. `members`: further lines of its hosts."""
    directory.mkdir(mode=0o755, exist_ok=True)
    for name, text in account_files(uid).items() if names_user else ():
        (directory / name).write_text(text)
    (directory / "hosts").write_text(f"127.0.0.1 localhost workload\n::1 localhost\n{members}")


def account_files(uid: int) -> dict[str, str]:
    """Contents of `passwd` and `group` that name the user of the work."""
    root = "root:x:0:0:root:/:/usr/sbin/nologin\n" if uid else ""
    passwd = f"{root}workload:x:{uid}:{uid}:workload:{SANDBOX_TMP}:/bin/sh\n"
    return {"passwd": passwd, "group": f"workload:x:{uid}:\n"}


def private_mounts(temporary: Path, ports: Path) -> list[HostMount]:
    """A temporary folder on disk, not in memory that the workload would pay for; and where it listens."""
    own = ((temporary, SANDBOX_TMP), (ports, SANDBOX_PORTS))
    return [HostMount(str(source), target, read_only=False) for source, target in own]


def is_reserved(target: str) -> bool:
    """Whether a mount there would hide what the sandbox itself needs."""
    first = target.strip("/").partition("/")[0]
    overlap = is_inside(str(BASE_PREFIX), target) or is_inside(target, str(BASE_PREFIX))
    return first in ("", *RESERVED) or overlap or target == SANDBOX_TMP


@lru_cache(maxsize=1)
def executable() -> str | None:
    return shutil.which("bwrap")


@lru_cache(maxsize=8)
def _supports(option: str) -> bool:
    return f"{option} " in _output([executable() or "bwrap", "--help"])[1]


def obstacle() -> Said | None:
    """Why no workload can be isolated here, found by isolating one; None when it works."""
    if executable() is None:
        return Said(Code.BUBBLEWRAP_MISSING)
    seccomp_filter = seccomp.open_filter()
    inherited = () if seccomp_filter is None else (seccomp_filter,)
    try:
        program = [str(BASE_PYTHON), "-I", "-S", "-c", _PROBE, LIBRARY_INSIDE]
        code, text = _output([*arguments(View(), seccomp_filter), *program], inherited)
    finally:
        for descriptor in inherited:
            os.close(descriptor)
    if code == 0 and "inside" in text:
        return None
    return Said(Code.BUBBLEWRAP_FAILS, {"error": text.strip()[:MAX_ERROR] or f"it ended with {code}"})


def _output(argv: Sequence[str], inherited: Sequence[int] = ()) -> tuple[int, str]:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={"PATH": os.defpath}, timeout=PROBE_TIMEOUT_S, check=False, pass_fds=inherited,
        )  # fmt: skip
    except OSError as error:
        return 1, str(error)
    except subprocess.TimeoutExpired as error:
        # A machine too busy to answer has not been shown to lack anything.
        raise CannotSee(Said(Code.MACHINE_BUSY)) from error
    return done.returncode, done.stdout.decode(errors="replace")
