"""Simulated machines that die and come back: the platform's own driver of stubs, on the soak's clock."""

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from unittest import mock

from django.conf import settings

from apps.clusters.models import Node
from apps.workloads import nodes
from apps.workloads.drivers.base import (
    CannotSee,
    Exit,
    ExitReason,
    Handle,
    Isolation,
    IsolationLevel,
    LaunchRequest,
    Observation,
    Phase,
)
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.simulated import stubs
from apps.workloads.drivers.simulated.driver import NAME, SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grant, Grants

SECONDS, EXIT_CODE = "SOAK_SECONDS", "SOAK_EXIT_CODE"
"""Variables of a run that say how long its stub takes, and how it ends."""
ENDLESS_S = 1e9
SWITCH = "switched_off"
# When a silent machine is given up is a rule that not every version of the platform knows.
_POLICY = "apps.workloads.hardware.policy"
_RULES = importlib.import_module(_POLICY).rules if importlib.util.find_spec(_POLICY) else None


@dataclass(slots=True)
class Stub:
    """One attempt as its machine knows it. `proven_at`: when the platform last saw it run, in seconds since 1970."""

    node: str
    began_s: float
    stub_s: float
    code: int
    proven_at: float | None = None
    ended: bool = False
    lost: bool = False
    stopped: bool = False

    def changes_at(self) -> tuple[float, float]:
        """When it begins to run and when it ends by itself."""
        return self.began_s + stubs.START_S, self.began_s + stubs.START_S + self.stub_s


class Machines(SimulatedDriver):
    """Stubs only, and machines of which some are off: nobody can see what they do, and a reboot loses it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(nodes.local_driver(), Grants(Path(settings.PLSTACK_HOME) / "simulated"), 0, clock)
        self.stubs: dict[str, Stub] = {}
        self.silent: dict[str, float] = {}
        self.deaths = 0

    def isolation(self) -> Isolation:
        return Isolation(IsolationLevel.L1, "")

    def fail(self, node: str) -> None:
        """The machine says nothing from now on."""
        self.silent[node] = self._clock()
        self.deaths += 1

    def come_back(self, node: str, *, rebooted: bool) -> None:
        """It answers again; `rebooted`: what ran there is gone."""
        self.silent.pop(node, None)
        if rebooted:
            for stub in self.stubs.values():
                stub.lost |= stub.node == node and not stub.ended

    def launch(self, request: LaunchRequest) -> Handle:
        self._reach(request.node)
        handle = super().launch(request)
        grant = self._grants.read(handle.ref)
        if grant is not None:
            code = int(request.env.get(EXIT_CODE, "0"))
            self.stubs.setdefault(handle.ref, Stub(request.node, grant.began_s, grant.stub_s, code))
        return handle

    def _grant(self, request: LaunchRequest) -> Grant:
        grant = super()._grant(request)
        return replace(grant, stub_s=ENDLESS_S if request.ports else float(request.env.get(SECONDS, grant.stub_s)))

    def observe(self, handle: Handle) -> Observation:
        self._reach(handle.node)
        seen, stub = super().observe(handle), self.stubs.get(handle.ref)
        if stub is not None:
            stub.ended |= seen.phase.is_final
            if seen.ran_for_s is not None and seen.phase is Phase.RUNNING:
                stub.proven_at = self._clock()
        return seen

    def _stub(self, ref: str, grant: Grant) -> Observation:
        stub = self.stubs[ref]
        if stub.lost:
            return Observation(Phase.LOST, exit=Exit(None, None, ExitReason.LOST, "The machine was started anew"))
        seen = super()._stub(ref, grant)
        if seen.exit is not None and seen.exit.succeeded and stub.code:
            return replace(seen, exit=Exit(stub.code, None, ExitReason.EXITED))
        return seen

    def stop(self, handle: Handle, grace_s: float) -> None:
        self._reach(handle.node)
        super().stop(handle, grace_s)
        if handle.ref in self.stubs:
            self.stubs[handle.ref].stopped = True

    def tell(self, handle: Handle, notice: Notice | None) -> None:
        self._reach(handle.node)

    def _reach(self, node: str) -> None:
        if node in self.silent:
            raise CannotSee(f"{node} does not answer")

    def due(self, since: float, until: float) -> list[str]:
        """Attempts of which the platform could see something new that has happened between these moments."""
        return [ref for ref, stub in self._seen() if any(since < at <= until for at in stub.changes_at())]

    def next_change(self, after: float) -> float | None:
        """When the next stub begins to run or ends."""
        return min((at for _ref, stub in self._seen() for at in stub.changes_at() if at > after), default=None)

    def _seen(self) -> Iterator[tuple[str, Stub]]:
        return ((ref, stub) for ref, stub in self.stubs.items() if not stub.ended and stub.node not in self.silent)

    def forget_ended(self) -> None:
        """Drop what has ended from memory: the grants on the disk stay as the platform leaves them."""
        self.stubs = {ref: stub for ref, stub in self.stubs.items() if not stub.ended}


def lost_after() -> timedelta | None:
    """How long the platform waits for a silent machine; None where it waits for ever."""
    if _RULES is None:
        return None
    after: timedelta | None = _RULES().lost_after
    return after


def switch(name: str, *, off: bool) -> None:
    """Where machines of the simulated zone have a switch, silence is that they are off."""
    if any(column.name == SWITCH for column in Node._meta.concrete_fields):
        Node.objects.filter(name=name).update(**{SWITCH: off})


@contextmanager
def simulated_machines(clock: Callable[[], float]) -> Iterator[Machines]:
    """Every simulated node is driven by these from now on."""
    nodes.local_driver.cache_clear()
    machines = Machines(clock)
    drivers: Mapping[str, Callable[[], SimulatedDriver]] = {NAME: lambda: machines}
    with mock.patch.dict(nodes._DRIVERS, drivers):
        yield machines
    nodes.local_driver.cache_clear()
