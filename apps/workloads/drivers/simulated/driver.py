"""The simulated driver: cards that do not exist, work that runs as small processes of this machine, or not at all.

An attempt runs under the local driver without devices, with at most `MAX_CPU_MILLI` and `MAX_MEMORY_MIB`. Beyond
`processes` of them at a time, further ones are stubs: they take their time, say so in their log, and end well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from apps.workloads.drivers.base import (
    CannotSee,
    DriverError,
    Exit,
    ExitReason,
    Handle,
    Isolation,
    LaunchRefused,
    LaunchRequest,
    LogChunk,
    Observation,
    Phase,
    Reference,
    RuntimeImage,
    Unsupported,
    Usage,
)
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.errors import now_or_later
from apps.workloads.drivers.local.checks import check
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated import figures, stubs
from apps.workloads.drivers.simulated.grants import Grant, Grants, boot, now_s
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream

NAME = "simulated"
MAX_CPU_MILLI, MAX_MEMORY_MIB = 1000, 1024
PROCESSES = 4
STUB_S = 120.0
STUB_SECONDS = "PLSTACK_SIMULATED_SECONDS"
"""Variable of a workload that says how long its stub takes."""


class SimulatedDriver:
    """Implements `Driver`, and the mixins of metrics, isolation, cleanup, inventory, images, gangs, notices, modes."""

    name = NAME

    def __init__(
        self,
        local: LocalDriver,
        grants: Grants,
        processes: int = PROCESSES,
        is_off: Callable[[str], bool] = lambda node: False,
        clock: Callable[[], float] = now_s,
    ) -> None:
        """`is_off`: whether the node of this name was switched off. It answers nobody then; what runs there goes on,
        as behind a cable that was cut. `clock`: seconds by which stubs take their time; the machine's own, unless
        somebody simulates time as well."""
        self._local = local
        self._is_off = is_off
        self._grants = grants
        self._processes = processes
        self._clock = clock

    def isolation(self, node: str = "") -> Isolation:
        return self._local.isolation()

    def set_gpu_mode(self, node: str, uuid: str, mode: str) -> None:
        """A card that does not exist takes any mode."""

    def _reach(self, node: str) -> None:
        if self._is_off(node):
            raise CannotSee(Said(Code.SWITCHED_OFF))

    def launch(self, request: LaunchRequest) -> Handle:
        check(_shrunk(request))
        self._reach(request.node)
        ref = str(request.attempt_id)
        with now_or_later(), self._grants.locked():
            grant = self._grants.read(ref)
            if grant is None:
                grant = self._grant(request)
                self._grants.write(ref, grant)
        if not grant.stub_s:
            self._launch(request)
        return Handle(NAME, request.node, ref)

    def _launch(self, request: LaunchRequest) -> None:
        try:
            self._local.launch(_shrunk(request))
        except LaunchRefused:
            self._grants.forget(str(request.attempt_id))  # it holds no process's place
            raise

    def _grant(self, request: LaunchRequest) -> Grant:
        is_stub = self._processes <= 0 or self._grants.processes() >= self._processes
        seconds = _stub_seconds(request.env) if is_stub else 0.0
        return Grant(request.devices, seconds, self._clock(), boot(), gang=request.gang is not None)

    def observe(self, handle: Handle) -> Observation:
        self._reach(handle.node)
        with now_or_later():
            grant = self._grants.read(handle.ref)
            if grant is None:
                return Observation(Phase.LOST, exit=Exit(None, None, ExitReason.LOST, Said(Code.RECORD_GONE)))
            seen = self._stub(handle.ref, grant) if grant.stub_s else self._process(handle, grant)
            if seen.phase.is_final:
                self._grants.mark(handle.ref, "ended").touch()
        return seen

    def _process(self, handle: Handle, grant: Grant) -> Observation:
        seen = self._local.observe(handle)
        return replace(seen, usage=figures.with_cards(seen.usage, grant.devices)) if seen.usage else seen

    def _stub(self, ref: str, grant: Grant) -> Observation:
        if grant.boot != boot():
            lost = Exit(None, None, ExitReason.LOST, Said(Code.MACHINE_RESTARTED))
            return Observation(Phase.LOST, exit=lost)
        released_s = self._marked_s(ref, grant, "released") if grant.gang else stubs.START_S
        times = stubs.Times(self._clock() - grant.began_s, self._marked_s(ref, grant, "stop"), released_s)
        return stubs.observe(grant, times)

    def _marked_s(self, ref: str, grant: Grant, name: str) -> float | None:
        """Seconds after its launch at which it was asked first; None where it has not been."""
        try:
            return float(self._grants.mark(ref, name).read_text()) - grant.began_s
        except (FileNotFoundError, ValueError):
            return None

    def stop(self, handle: Handle, grace_s: float) -> None:
        self._reach(handle.node)
        with now_or_later():
            grant = self._grants.read(handle.ref)
            if grant is not None and not grant.stub_s:
                self._local.stop(handle, grace_s)
            elif grant is not None:
                self._mark(handle.ref, "stop")

    def release(self, handle: Handle) -> None:
        self._reach(handle.node)
        with now_or_later():
            grant = self._grants.read(handle.ref)
            if grant is not None and not grant.stub_s:
                self._local.release(handle)
            elif grant is not None:
                self._mark(handle.ref, "released")

    def _mark(self, ref: str, name: str) -> None:
        """The first time counts."""
        mark = self._grants.mark(ref, name)
        if not mark.exists():
            mark.write_text(repr(self._clock()))

    def tell(self, handle: Handle, notice: Notice | None) -> None:
        """A stub has nobody to tell."""
        self._reach(handle.node)
        with now_or_later():
            grant = self._grants.read(handle.ref)
        if grant is not None and not grant.stub_s:
            self._local.tell(handle, notice)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        self._reach(handle.node)
        with now_or_later():
            grant = self._grants.read(handle.ref)
        if grant is None:
            return LogChunk(b"", offset, offset, complete=True, size=0)
        if not grant.stub_s:
            return self._local.logs(handle, offset, limit)
        seen = self._stub(handle.ref, grant)
        ran = -1.0 if seen.ran_for_s is None else seen.ran_for_s
        return stubs.log(grant, ran, offset, limit, ended=seen.phase.is_final)

    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        self._reach(handle.node)
        with now_or_later():
            grant = self._grants.read(handle.ref)
        if grant is None:
            return []
        if not grant.stub_s:
            return [figures.with_cards(usage, grant.devices) for usage in self._local.metrics(handle, since_s)]
        return stubs.metrics(grant, self._stub(handle.ref, grant).ran_for_s or -1.0, since_s)

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        self._reach(handle.node)
        self._refuse_stub(handle)
        return self._local.exec(handle, argv, tty, env)

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        self._reach(handle.node)
        self._refuse_stub(handle)
        return self._local.endpoint(handle, port)

    def _refuse_stub(self, handle: Handle) -> None:
        with now_or_later():
            grant = self._grants.read(handle.ref)
        if grant is not None and grant.stub_s:
            raise Unsupported(Said(Code.STUB))

    def forget(self, handle: Handle) -> None:
        with now_or_later():
            grant = self._grants.read(handle.ref)
            if grant is None:
                return
            if not grant.stub_s:
                self._local.forget(handle)
            elif not self._stub(handle.ref, grant).phase.is_final:
                raise DriverError(Said(Code.NOT_ENDED))
            self._grants.forget(handle.ref)

    def has_image(self, image: RuntimeImage) -> bool:
        return self._local.has_image(image)

    def has_reference(self, image: Reference) -> bool:
        return self._local.has_reference(image)

    def known(self, node: str = "") -> list[str]:
        """Of all its nodes: they share one folder."""
        with now_or_later():
            return sorted(self._grants.known())


def _shrunk(request: LaunchRequest) -> LaunchRequest:
    """What may be taken from the real machine for hardware that does not exist."""
    return replace(
        request,
        devices=(),
        cpu_milli=min(request.cpu_milli, MAX_CPU_MILLI),
        memory_mib=min(request.memory_mib, MAX_MEMORY_MIB),
        env={**request.env, "PLSTACK_SIMULATED": "1"},
        # Whatever nodes they are said to be on, all its processes are on this machine.
        gang=replace(gang, nodes=(gang.nodes[gang.rank],) * gang.size) if (gang := request.gang) else None,
    )


def _stub_seconds(env: Mapping[str, str]) -> float:
    try:
        return max(1.0, float(env.get(STUB_SECONDS, STUB_S)))
    except ValueError:
        return STUB_S
