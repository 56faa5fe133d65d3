"""Simulated machines that die and come back: the platform's own driver of stubs, on the soak's clock."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock
from uuid import UUID

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
from apps.workloads.reconcile.attempts import CHECK_AGAIN

SECONDS, EXIT_CODE, FAILING_RANK = "SOAK_SECONDS", "SOAK_EXIT_CODE", "SOAK_FAILING_RANK"
"""Variables of a run that say how long its stub takes, how it ends, and which member of a gang ends like that."""
ENDLESS_S = 1e9
# Each member of a gang is ready so much later than the one before it, and needs so much less of the run's time.
READY_APART_S, SHORTER = 20.0, 0.05
# The member that ends badly does so after this share of the time.
FAILS_AFTER = 0.5
# The platform looks again so long after it has let a gang begin, or has stopped what is left of one.
LOOKS_AGAIN_S = CHECK_AGAIN.total_seconds()


@dataclass(slots=True)
class Stub:
    """One program as its machine knows it: an attempt, or a member of the gang `group`; times in seconds since 1970.

    `proven_at`: when the platform last saw it run. `released_s`: when it was let past the barrier, of a gang.
    """

    node: str
    began_s: float
    stub_s: float
    code: int
    group: UUID | None = None
    proven_at: float | None = None
    released_s: float | None = None
    stopped_s: float | None = None
    ended: bool = False
    lost: bool = False

    @property
    def ready_s(self) -> float:
        """When it has what it needs to run."""
        return self.began_s + stubs.START_S

    @property
    def stopped(self) -> bool:
        return self.stopped_s is not None

    def is_bad(self, now_s: float) -> bool:
        """Whether it has failed or was lost by now. Of a gang."""
        begun_s = None if self.released_s is None else max(self.ready_s, self.released_s)
        failed = bool(self.code) and begun_s is not None and begun_s + self.stub_s <= now_s and not self.stopped
        return self.lost or failed

    def changes_at(self) -> Iterator[float]:
        """When it is ready, when it ends by itself, and when the platform sees what it had a gang do."""
        yield self.ready_s
        if self.group is None:
            yield self.ready_s + self.stub_s
            return
        if self.released_s is not None:
            yield self.released_s + LOOKS_AGAIN_S
            yield max(self.ready_s, self.released_s) + self.stub_s
        if self.stopped_s is not None:
            yield self.stopped_s + LOOKS_AGAIN_S


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
            code = int(request.env.get(EXIT_CODE, "0")) if _fails(request) else 0
            group = request.gang.group if request.gang else None
            self.stubs.setdefault(handle.ref, Stub(request.node, grant.began_s, grant.stub_s, code, group))
        return handle

    def _grant(self, request: LaunchRequest) -> Grant:
        grant = super()._grant(request)
        seconds = ENDLESS_S if request.ports else float(request.env.get(SECONDS, grant.stub_s))
        if request.gang is None:
            return replace(grant, stub_s=seconds)
        fails = _fails(request) and request.env.get(EXIT_CODE, "0") != "0"
        share = FAILS_AFTER if fails else 1 - SHORTER * request.gang.rank
        return replace(grant, stub_s=seconds * share, began_s=grant.began_s + READY_APART_S * request.gang.rank)

    def observe(self, handle: Handle) -> Observation:
        seen, stub = super().observe(handle), self.stubs.get(handle.ref)
        if stub is not None:
            stub.ended |= seen.phase.is_final
            if seen.ran_for_s is not None and seen.phase is Phase.RUNNING:
                stub.proven_at = self._clock()
        return seen

    def _stub(self, ref: str, grant: Grant) -> Observation:
        stub = self.stubs.get(ref)
        if stub is None:  # it has ended and is forgotten; its log is read to the end
            return super()._stub(ref, grant)
        if stub.lost:
            return Observation(Phase.LOST, exit=Exit(None, None, ExitReason.LOST, Said(Code.MACHINE_RESTARTED)))
        if stub.stopped_s is None and self._clock() < grant.began_s:
            return Observation(Phase.IMAGE)
        seen = super()._stub(ref, grant)
        if seen.exit is not None and seen.exit.succeeded and stub.code:
            return replace(seen, exit=Exit(stub.code, None, ExitReason.EXITED))
        return seen

    def stop(self, handle: Handle, grace_s: float) -> None:
        super().stop(handle, grace_s)
        stub = self.stubs.get(handle.ref)
        if stub is not None and stub.stopped_s is None:
            stub.stopped_s = self._clock()

    def release(self, handle: Handle) -> None:
        super().release(handle)
        stub = self.stubs.get(handle.ref)
        if stub is not None and stub.released_s is None:
            stub.released_s = self._clock()

    def due(self, since: float, until: float) -> list[str]:
        """Programs of which the platform could see something new that has happened between these moments."""
        return [ref for ref, stub in self._seen() if any(since < at <= until for at in stub.changes_at())]

    def next_change(self, after: float) -> float | None:
        """When the platform could next see something new of a stub."""
        return min((at for _ref, stub in self._seen() for at in stub.changes_at() if at > after), default=None)

    def _seen(self) -> Iterator[tuple[str, Stub]]:
        return ((ref, stub) for ref, stub in self.stubs.items() if not stub.ended and stub.node not in self.silent)

    def shown_until(self, attempt: UUID) -> float | None:
        """When its machines last showed what still lives of an attempt, of a gang the least of these; None: nothing."""
        live = [
            stub
            for ref, stub in self.stubs.items()
            if (stub.group == attempt or ref == str(attempt)) and not stub.ended
        ]
        return min((stub.proven_at for stub in live if stub.proven_at is not None), default=None)

    def forget_ended(self) -> None:
        """Drop what has ended from memory, a gang once all of it has.

        The grants on the disk stay as the platform leaves them.
        """
        gangs = {stub.group for stub in self.stubs.values() if stub.group is not None and not stub.ended}
        self.stubs = {ref: stub for ref, stub in self.stubs.items() if not stub.ended or stub.group in gangs}


def _fails(request: LaunchRequest) -> bool:
    """Whether the run's exit code is this program's. The other members of a gang would end well."""
    return request.gang is None or request.gang.rank == int(request.env.get(FAILING_RANK, "0"))


@contextmanager
def simulated_machines(clock: Callable[[], float]) -> Iterator[Machines]:
    """Every simulated node is driven by these from now on."""
    nodes.local_driver.cache_clear()
    machines = Machines(clock)
    drivers: Mapping[str, Callable[[], SimulatedDriver]] = {NAME: lambda: machines}
    with mock.patch.dict(nodes._DRIVERS, drivers):
        yield machines
    nodes.local_driver.cache_clear()
