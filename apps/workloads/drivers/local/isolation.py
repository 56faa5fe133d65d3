"""Which isolation this machine really gives, found out by trying, and said in words."""

import os
import time
from uuid import uuid4

from apps.workloads.drivers.base import Isolation, IsolationLevel
from apps.workloads.drivers.local import cgroups, sandbox
from apps.workloads.drivers.said import Code, Said

ASK_AGAIN_S = 60.0
PROBE_MEMORY_MIB = 64


class Machine:
    """What this machine offers. A level L1 once shown stays; a failure is tried again after a minute."""

    def __init__(self, demanded: IsolationLevel | None = None, use_cgroups: bool | None = None) -> None:
        self.demanded = demanded
        self._limits = _group_limits() if use_cgroups in (None, True) else frozenset()
        self._obstacle: Said | None = None
        self._is_known = False
        self._asked_at = 0.0

    @property
    def use_cgroups(self) -> bool:
        return bool(self._limits)

    def isolation(self) -> Isolation:
        """The level in force. Raises CannotSee when the machine is too busy to tell."""
        if self.demanded is IsolationLevel.L0:
            return self._open(Said(Code.ISOLATION_OFF))
        obstacle = self._find_obstacle()
        if obstacle is not None:
            return self._open(obstacle)
        users = Code.BUBBLEWRAP_USER_IDS if os.geteuid() == 0 else Code.BUBBLEWRAP_NAMESPACES
        return Isolation(IsolationLevel.L1, (Said(users), self._limited()))

    def _open(self, why: Said) -> Isolation:
        return Isolation(IsolationLevel.L0, (why, Said(Code.FILES_READABLE), self._limited()))

    def _find_obstacle(self) -> Said | None:
        is_stale = time.monotonic() - self._asked_at > ASK_AGAIN_S
        if not self._is_known or (self._obstacle and is_stale):
            self._obstacle, self._is_known = sandbox.obstacle(), True
            self._asked_at = time.monotonic()
        return self._obstacle

    def _limited(self) -> Said:
        if not self._limits:
            return Said(Code.MEMORY_WATCHED)
        return Said(Code.LIMITED_BY_GROUPS if "cpu" in self._limits else Code.MEMORY_BY_GROUPS)


def _group_limits() -> frozenset[str]:
    name = f"probe-{uuid4().hex}"
    group = cgroups.create(name, PROBE_MEMORY_MIB, 1000)
    if group is None:
        return frozenset()
    group.remove()
    return group.limits
