"""Which isolation this machine really gives, found out by trying, and said in words."""

import os
import time
from uuid import uuid4

from apps.workloads.drivers.base import Isolation, IsolationLevel
from apps.workloads.drivers.local import cgroups, sandbox

ASK_AGAIN_S = 60.0
PROBE_MEMORY_MIB = 64
_OPEN = "Workloads run as the platform's own user and can read its files."


class Machine:
    """What this machine offers. A level L1 once shown stays; a failure is tried again after a minute."""

    def __init__(self, demanded: IsolationLevel | None = None, use_cgroups: bool | None = None) -> None:
        self.demanded = demanded
        self._limits = _group_limits() if use_cgroups in (None, True) else frozenset()
        self._obstacle: str | None = None
        self._asked_at = 0.0

    @property
    def use_cgroups(self) -> bool:
        return bool(self._limits)

    def isolation(self) -> Isolation:
        """The level in force. Raises CannotSee when the machine is too busy to tell."""
        if self.demanded is IsolationLevel.L0:
            return Isolation(
                IsolationLevel.L0, f"Isolation is switched off by the operator. {_OPEN} {self._limits_text()}"
            )
        obstacle = self._find_obstacle()
        if obstacle:
            return Isolation(IsolationLevel.L0, f"{obstacle}. {_OPEN} {self._limits_text()}")
        return Isolation(IsolationLevel.L1, f"bubblewrap, {_user_text()}. {self._limits_text()}")

    def _find_obstacle(self) -> str:
        is_stale = time.monotonic() - self._asked_at > ASK_AGAIN_S
        if self._obstacle is None or (self._obstacle and is_stale):
            self._obstacle = sandbox.obstacle()
            self._asked_at = time.monotonic()
        return self._obstacle

    def _limits_text(self) -> str:
        cpu = "limited" if "cpu" in self._limits else "not limited"
        memory = "by control groups" if self._limits else "by watching"
        return f"Memory limited {memory}, processor time {cpu}"


def _user_text() -> str:
    return "a user id per tenant" if os.geteuid() == 0 else "a user namespace"


def _group_limits() -> frozenset[str]:
    name = f"probe-{uuid4().hex}"
    group = cgroups.create(name, PROBE_MEMORY_MIB, 1000)
    if group is None:
        return frozenset()
    group.remove()
    return group.limits
