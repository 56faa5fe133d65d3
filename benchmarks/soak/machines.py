"""Simulated machines that die and come back: the platform's own driver of stubs, on the soak's clock."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from django.conf import settings

from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.workloads import nodes
from apps.workloads.drivers.base import (
    Exit,
    ExitReason,
    Handle,
    Isolation,
    IsolationLevel,
    LaunchRequest,
    Observation,
    Phase,
)
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated import stubs
from apps.workloads.drivers.simulated.driver import NAME, SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grant, Grants
from apps.workloads.hardware import simulation

SECONDS, EXIT_CODE = "SOAK_SECONDS", "SOAK_EXIT_CODE"
"""Variables of a run that say how long its stub takes, and how it ends."""
ENDLESS_S = 1e9


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
        grants = Grants(Path(settings.PLSTACK_HOME) / "simulated")
        super().__init__(nodes.local_driver(), grants, 0, self._silent, clock)
        self.stubs: dict[str, Stub] = {}
        self.silent: set[str] = set()
        self.deaths = 0

    def isolation(self, node: str = "") -> Isolation:
        return Isolation(IsolationLevel.L1)

    def _silent(self, node: str) -> bool:
        return node in self.silent

    def fail(self, actor: Actor, node: Node) -> None:
        """The machine says nothing from now on."""
        simulation.switch(actor, node_id=node.pk, on=False)
        self.silent.add(node.name)
        self.deaths += 1

    def come_back(self, actor: Actor, name: str, *, rebooted: bool) -> None:
        """It answers again; `rebooted`: what ran there is gone."""
        simulation.switch(actor, node_id=Node.objects.get(name=name).pk, on=True)
        self.silent.discard(name)
        if rebooted:
            for stub in self.stubs.values():
                stub.lost |= stub.node == name and not stub.ended

    def launch(self, request: LaunchRequest) -> Handle:
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
        seen, stub = super().observe(handle), self.stubs.get(handle.ref)
        if stub is not None:
            stub.ended |= seen.phase.is_final
            if seen.ran_for_s is not None and seen.phase is Phase.RUNNING:
                stub.proven_at = self._clock()
        return seen

    def _stub(self, ref: str, grant: Grant) -> Observation:
        stub = self.stubs[ref]
        if stub.lost:
            return Observation(Phase.LOST, exit=Exit(None, None, ExitReason.LOST, Said(Code.MACHINE_RESTARTED)))
        seen = super()._stub(ref, grant)
        if seen.exit is not None and seen.exit.succeeded and stub.code:
            return replace(seen, exit=Exit(stub.code, None, ExitReason.EXITED))
        return seen

    def stop(self, handle: Handle, grace_s: float) -> None:
        super().stop(handle, grace_s)
        if handle.ref in self.stubs:
            self.stubs[handle.ref].stopped = True

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


@contextmanager
def simulated_machines(clock: Callable[[], float]) -> Iterator[Machines]:
    """Every simulated node is driven by these from now on."""
    nodes.local_driver.cache_clear()
    machines = Machines(clock)
    drivers: Mapping[str, Callable[[], SimulatedDriver]] = {NAME: lambda: machines}
    with mock.patch.dict(nodes._DRIVERS, drivers):
        yield machines
    nodes.local_driver.cache_clear()
