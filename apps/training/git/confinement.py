"""Runs git on what may be hostile: in the sandbox of tenants' work where there is one, as an account that owns nothing,
without anybody's configuration, hooks or programs, with limits on time, memory and what it writes.

It has no network but a port of its own loopback, behind which `tunnel` stands. A repository is never checked out: its
files are read as objects, so that nothing in it says how they are written.
"""

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from apps.workloads.drivers.local import sandbox, seccomp
from apps.workloads.drivers.local.environment import SANDBOX_TMP
from apps.workloads.drivers.local.runtime import BASE_PYTHON
from apps.workloads.drivers.local.sandbox import LIBRARY_INSIDE, PROJECT, View
from apps.workloads.drivers.local.volumes import HostMount

NOBODY = 65534
MIB = 1024 * 1024
MEMORY_MIB = 2048
TAIL = 8192
DYING_S = 10.0
INSIDE = "/git"
REPOSITORY = "repository"
WAY_PORT = "WAY_PORT"
"""The variable with the port of the loopback that leads out."""
# Gives up privileges for good, starts git under its limits and leads its connections out until it ends. As the first
# process of a sandbox it takes everything with it then. git is not that one: the kernel would not end it at the limit
# on files, and a change of user id would forget that it has to die with bubblewrap (prctl(2), PR_SET_PDEATHSIG).
_BOOT = """
import os, resource, selectors, signal, socket, sys
sys.path.append(sys.argv[1])
from apps.workloads.drivers.local import port_relay, privileges
way, isolated, uid, memory, size = sys.argv[2], *map(int, sys.argv[3:7])
if way:
    listener = socket.create_server(("127.0.0.1", 0), backlog=16)
    os.environ["WAY_PORT"] = str(listener.getsockname()[1])
    os.environ["https_proxy"] = "http://127.0.0.1:" + os.environ["WAY_PORT"]
if isolated or uid:
    privileges.give_up()
os.nice(5)
ended, lives = os.pipe()
os.set_inheritable(lives, True)
git = os.fork()
if git == 0:
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    for limit, value in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_CORE, 0),
                         *([(resource.RLIMIT_NPROC, 512)] if uid else [])):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    for ignored in (signal.SIGXFSZ, signal.SIGPIPE):  # by Python
        signal.signal(ignored, signal.SIG_DFL)
    os.execv(sys.argv[7], sys.argv[7:])
os.close(lives)
selector = selectors.DefaultSelector()
selector.register(ended, selectors.EVENT_READ)
if way:
    port_relay.WayOut(selector, 0, way).open(listener)
over = False
while not over:
    for key, events in selector.select():
        over = over or key.fd == ended
        if key.data:
            key.data(events)
code = os.waitstatus_to_exitcode(os.waitpid(git, 0)[1])
os._exit(code if code >= 0 else 128 - code)
"""
# Nothing but https (or SSH, where that is asked for), no programs that a repository or a configuration names, no
# prompts, no upkeep, little memory.
RULES = {
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "http.followRedirects": "initial",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.askPass": "",
    "core.bigFileThreshold": "32m",
    "core.attributesFile": "/dev/null",
    "credential.helper": "",
    "transfer.fsckObjects": "true",
    "transfer.bundleURI": "false",
    "transfer.unpackLimit": "1",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "safe.directory": "*",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """`said`: the end of what it printed as errors, in English. `timed_out`: it was stopped."""

    code: int
    out: Path
    said: str = ""
    timed_out: bool = False


def program() -> str | None:
    """Where git is; None where it is not installed, so that the source is not offered."""
    return shutil.which("git", path=os.defpath)


@cache
def isolated() -> bool:
    """Whether a sandbox works here: some machines have bubblewrap, and let nobody make namespaces."""
    return sandbox.obstacle() is None


@dataclass(frozen=True, slots=True)
class Workshop:
    """A folder of ours in which git works until `deadline` (of time.monotonic). Its own part belongs to it."""

    folder: Path
    deadline: float

    def prepare(self) -> None:
        self.folder.chmod(0o711)
        for path in (self.own, self.way.parent):
            path.mkdir(mode=0o755)
        if os.geteuid() == 0:
            os.chown(self.own, NOBODY, NOBODY)
        # ssh asks who it is.
        sandbox.write_etc(self.folder / "etc", os.geteuid() or NOBODY)

    def write_own(self, name: str, text: str) -> None:
        """A new file for git's account alone."""
        descriptor = os.open(self.own / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w") as file:
            file.write(text)
            if os.geteuid() == 0:
                os.fchown(descriptor, NOBODY, NOBODY)

    @property
    def own(self) -> Path:
        return self.folder / "own"

    @property
    def way(self) -> Path:
        """The socket of the tunnel, in a folder that also holds the authorities to trust."""
        return self.folder / "way" / "socket"

    @property
    def authorities(self) -> Path:
        return self.way.with_name("authorities.pem")

    def inside(self, path: Path) -> str:
        """How git names a file of `way`'s folder."""
        return f"{INSIDE}/{path.name}" if isolated() else str(path)

    def own_inside(self, name: str) -> str:
        """How git names a file of its own part."""
        return f"{SANDBOX_TMP if isolated() else self.own}/{name}"

    def run(
        self,
        *words: str,
        config: Mapping[str, str] | None = None,
        stdin: Path | None = None,
        networked: bool = False,
        most: int = 16 * MIB,
        repository: str = "",
        ssh: str = "",
    ) -> Ended:
        """`git <words>` in the repository, or another one of `own`. `ssh`: the command to connect with, for SSH alone.

        Its output is in a file, of which `most` bytes are written at most.
        What is secret in `config` is in no argument. Raises OSError where git is not installed.
        """
        out, errors = self.folder / "out", self.folder / "errors"
        seccomp_filter = seccomp.open_filter() if isolated() else None
        gone, lives = os.pipe()
        inherited = (lives,) if seccomp_filter is None else (lives, seccomp_filter)
        try:
            with open(stdin or os.devnull, "rb") as source, out.open("wb") as written, errors.open("wb") as said:
                process = subprocess.Popen(
                    [*self._confined(seccomp_filter), *self._boot(most, networked, repository or REPOSITORY), *words],
                    stdin=source, stdout=written, stderr=said, pass_fds=inherited, cwd=self.own,
                    env=_variables(config or {}, ssh), start_new_session=True,
                )  # fmt: skip
        except BaseException:
            os.close(gone)
            raise
        finally:
            for descriptor in inherited:
                os.close(descriptor)
        try:
            code = process.wait(max(0.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return Ended(-1, out, timed_out=True)
        finally:
            _end(process, gone)
        return Ended(code, out, errors.read_bytes()[-TAIL:].decode(errors="replace"))

    def _confined(self, seccomp_filter: int | None) -> list[str]:
        if not isolated():
            return []
        mounts = [
            HostMount(str(self.own), SANDBOX_TMP, read_only=False),
            HostMount(str(self.way.parent), INSIDE, read_only=True),
        ]
        return sandbox.arguments(View(mounts=mounts, etc=self.folder / "etc"), seccomp_filter)

    def _boot(self, most: int, networked: bool, repository: str) -> list[str]:
        uid = NOBODY if os.geteuid() == 0 else 0
        library = LIBRARY_INSIDE if isolated() else str(PROJECT)
        way = self.inside(self.way) if networked else ""
        numbers = (int(isolated()), uid, MEMORY_MIB * MIB, most)
        boot = [str(BASE_PYTHON), "-I", "-S", "-c", _BOOT, library, way, *map(str, numbers)]
        return [*boot, program() or "git", f"--git-dir={self.own_inside(repository)}"]


def _end(process: "subprocess.Popen[bytes]", gone: int) -> None:
    """All of it. Who was in the sandbox dies after bubblewrap, and may be writing to the folder until then.

    `gone` can be read once nobody holds its other end any more.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    select.select([gone], [], [], DYING_S)
    os.close(gone)


def _variables(config: Mapping[str, str], ssh: str) -> dict[str, str]:
    """Configuration goes through the environment, which only git's own account and root read."""
    over_ssh = {"protocol.https.allow": "never", "protocol.ssh.allow": "always"} if ssh else {}
    pairs = list({**RULES, **over_ssh, **config}.items())
    return {
        **{f"GIT_CONFIG_KEY_{number}": key for number, (key, _value) in enumerate(pairs)},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, (_key, value) in enumerate(pairs)},
        "GIT_CONFIG_COUNT": str(len(pairs)),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "ssh" if ssh else "https",
        "GIT_SSH_COMMAND": ssh or "false",
        "GIT_SSH_VARIANT": "ssh",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "PATH": os.defpath,
    }
