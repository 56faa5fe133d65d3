"""Where things are inside a pod, for those who build its manifest and for those who run in it."""

from dataclasses import dataclass
from pathlib import Path

from apps.workloads.drivers.local.environment import SANDBOX_NOTICE, SANDBOX_PORTS
from apps.workloads.drivers.local.records import RunDirectory

CODE = "/run/plstack/code"
"""The archive of the platform's code, in both containers."""
ARCHIVE = "code.zip"
DOOR = "/run/plstack/door"
"""The folder of the socket at which the program's first process waits for the shim; in both."""
SOCKET = f"{DOOR}/first.sock"
PYTHON = "/run/plstack/python"
"""The interpreter that an image without one, or with another, is lent."""

HOME = "/plstack"
"""The shim's own; nothing of it is seen in the program's container but `RUNTIMES`, to be read."""
RUNS = f"{HOME}/runs"
RUNTIMES = f"{HOME}/runtimes"
GIVEN = f"{HOME}/given"
PRIVATE = f"{HOME}/private"
SCRATCH = f"{HOME}/scratch"
TEMPORARY = f"{HOME}/temporary"
MOUNTS = f"{HOME}/mounts"
COPIES = f"{HOME}/copies"

SLOTS = "PLSTACK_SLOTS"
"""How many cards each member of a gang has: the cluster gives them, so the specification names none."""

PORT = 7171
"""Of the shim's channel."""


@dataclass(frozen=True, slots=True)
class PodRun(RunDirectory):
    """The journal lies on the zone's storage; sockets and what the program is shown lie in the pod's own folders."""

    @property
    def exec_socket(self) -> Path:
        return Path(PRIVATE, "exec.sock")

    @property
    def channel(self) -> Path:
        return Path(PRIVATE, "channel.sock")

    @property
    def ports(self) -> Path:
        return Path(SANDBOX_PORTS)

    @property
    def notice(self) -> Path:
        return Path(SANDBOX_NOTICE)

    @property
    def scratch(self) -> Path:
        return Path(SCRATCH)

    @property
    def temporary(self) -> Path:
        return Path(TEMPORARY)

    @property
    def members(self) -> Path:
        """The addresses of a gang's members, once they may begin."""
        return self.path / "members.json"

    @property
    def failed(self) -> Path:
        """There once the driver has said that what the shim waits for will never be."""
        return self.path / "failed"
