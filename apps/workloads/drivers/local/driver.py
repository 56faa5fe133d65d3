"""The local driver: workloads as processes of this machine, each under a shim that outlives the platform."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

from apps.clusters.discovery import measure_machine
from apps.workloads.drivers import probing, software_sources
from apps.workloads.drivers.base import (
    CannotSee,
    DriverError,
    Exit,
    ExitReason,
    Handle,
    Isolation,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    LogChunk,
    Observation,
    Phase,
    Reference,
    SoftwareSources,
    Usage,
)
from apps.workloads.drivers.capabilities import FoundNode, Notice, Probe
from apps.workloads.drivers.errors import now_or_later
from apps.workloads.drivers.fencing import is_up as is_fenced
from apps.workloads.drivers.local import (
    accounts,
    cgroups,
    disk_floor,
    execution,
    gang_network,
    nvml,
    processes,
    rdma,
    shim,
)
from apps.workloads.drivers.local.access import FolderAccess
from apps.workloads.drivers.local.cards import Cards, GpuSampler
from apps.workloads.drivers.local.channel import Channels
from apps.workloads.drivers.local.checks import check, secret_values
from apps.workloads.drivers.local.environment import EGRESS_SOCKET
from apps.workloads.drivers.local.image_store import ImagesOfMachine
from apps.workloads.drivers.local.isolation import Machine
from apps.workloads.drivers.local.linux import is_locked, remove_tree
from apps.workloads.drivers.local.mounting import egress_folder, tracking_folder
from apps.workloads.drivers.local.oci import cdi
from apps.workloads.drivers.local.records import (
    MARKER,
    RunDirectory,
    RunSpec,
    decode_observation,
    decode_spec,
    encode_spec,
    last_state,
    last_words,
)
from apps.workloads.drivers.local.volumes import resolve
from apps.workloads.drivers.request import DATA
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream

NAME = "local"
END_TIMEOUT_S = 3.0


class LocalDriver(ImagesOfMachine):
    """Implements `Driver` and what `capabilities` has for one's own machine, below `home/runs` and `home/runtimes`.

    `level` and `use_cgroups` override what the machine is found to offer; a level that it does not offer is refused
    at launch, never lowered. `data`: root of the storage that is shared with the platform of another machine; work that
    is fenced there never starts, and ends. `volumes`: roots by name; the platform's data unless told. `system`: below
    which RDMA devices are looked for.
    """

    name = NAME

    def __init__(
        self,
        home: Path,
        level: IsolationLevel | None = None,
        use_cgroups: bool | None = None,
        sample_gpus: GpuSampler = nvml.sample,
        data: Path | None = None,
        volumes: Mapping[str, Path] | None = None,
        system: Path = Path("/"),
    ) -> None:
        self._data = data
        self._system = system
        self._home = home.resolve()
        self._volumes = volumes or {DATA: data or self._home / "data"}
        self._runs = self._home / "runs"
        self._machine = Machine(level, use_cgroups)
        self._channels = Channels()
        self._cards = Cards(self._home, self.is_over, sample_gpus)

    def isolation(self, node: str = "") -> Isolation:
        return self._machine.isolation()

    def launch(self, request: LaunchRequest) -> Handle:
        check(request)
        run = self._run(str(request.attempt_id))
        if self._data is not None and is_fenced(self._data, run.path.name):
            raise LaunchRefused("fenced", Said(Code.GIVEN_UP))
        with now_or_later():
            if not run.state.exists():
                values = secret_values(request)
                if not run.spec.exists():
                    self._create(run, request)
                shim.start(run, values)
        return Handle(NAME, request.node, str(request.attempt_id))

    def observe(self, handle: Handle) -> Observation:
        with now_or_later():
            seen = self._channels.beside(self._access(handle.ref)).observe()
            return self._watched(self._run(handle.ref), seen)

    def _watched(self, run: RunDirectory, seen: Observation) -> Observation:
        if seen.phase.is_final:
            self._cards.release(run.path.name)
        return self._cards.watched(run, seen)

    def stop(self, handle: Handle, grace_s: float) -> None:
        with now_or_later():
            self._access(handle.ref).stop(grace_s)

    def release(self, handle: Handle) -> None:
        run = self._run(handle.ref)
        with now_or_later():
            if run.path.is_dir() and not run.exit.exists():
                run.released.touch(mode=0o600)

    def tell(self, handle: Handle, notice: Notice | None) -> None:
        with now_or_later():
            self._channels.beside(self._access(handle.ref)).tell(notice)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        with now_or_later():
            return self._access(handle.ref).logs(offset, limit)

    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        with now_or_later():
            return self._access(handle.ref).metrics(since_s)

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        run = self._run(handle.ref)
        with now_or_later():
            spec = decode_spec(run.spec.read_bytes())
            return execution.start(run.exec_socket, argv, tty, spec.uid, env)

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        """The Unix socket itself: through the shim's channel, all that people send and fetch would be copied twice."""
        return Endpoint(socket_path=str(self._access(handle.ref).port(port)))

    def set_gpu_mode(self, node: str, uuid: str, mode: str) -> None:
        self._cards.set_mode(uuid, mode)

    def sweep_partitions(self) -> int:
        with now_or_later():
            return self._cards.sweep()

    def forget(self, handle: Handle) -> None:
        run = self._run(handle.ref)
        with now_or_later():
            if not run.path.is_dir():
                return
            if not self._look(handle.ref).phase.is_final:
                raise DriverError(Said(Code.NOT_ENDED))
            trash = self._runs / f".trash-{handle.ref}-{uuid4().hex}"
            run.path.rename(trash)
            remove_tree(trash)
            remove_tree(run.secret_files)

    def known(self, node: str = "") -> list[str]:
        """Of this machine, whatever it is called."""
        with now_or_later():
            entries = list(self._runs.iterdir()) if self._runs.is_dir() else []
        return sorted(entry.name for entry in entries if _is_uuid(entry.name))

    def nodes(self) -> list[FoundNode]:
        """This machine, the only one."""
        return [FoundNode("", measure_machine(self._home), self.isolation())]

    def is_own_machine(self, node: str) -> bool:
        return True

    def uid_of(self, tenant: UUID) -> int | None:
        """The user id of the tenant's work, here and wherever files are shared; None where there are no such ids."""
        return accounts.uid_of(tenant, self._registry()) if os.geteuid() == 0 else None

    def egress_socket(self) -> Path:
        """Sandboxes see its folder and nothing else of the platform's, so nothing else may ever lie in it."""
        return egress_folder(self._home) / EGRESS_SOCKET

    def tracking_socket(self) -> Path:
        return tracking_folder(self._home) / EGRESS_SOCKET

    def probe_sources(self, node: str, sources: SoftwareSources) -> list[Probe]:
        with now_or_later():
            return probing.probe(sources, self._home, self.egress_socket())

    def _run(self, ref: str) -> RunDirectory:
        if not _is_uuid(ref):
            raise DriverError(Said(Code.NOT_OURS, {"ref": ref}))
        return RunDirectory(self._runs / ref)

    def _access(self, ref: str) -> FolderAccess:
        run = self._run(ref)
        return FolderAccess(run, lambda: self._look(ref), lambda: not self._is_alive(run))

    def _create(self, run: RunDirectory, request: LaunchRequest) -> None:
        """The run directory appears with its specification in it, or not at all."""
        spec = self._decide(request)
        self._runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = RunDirectory(self._runs / f".new-{request.attempt_id}-{uuid4().hex}")
        draft.path.mkdir(mode=0o700)
        try:
            draft.spec.touch(mode=0o600)
            draft.spec.write_bytes(encode_spec(spec))
            draft.path.rename(run.path)
        except OSError:
            shutil.rmtree(draft.path, ignore_errors=True)
            if not run.spec.exists():  # else another launch was first, and its attempt is adopted
                raise

    def _decide(self, request: LaunchRequest) -> RunSpec:
        level = self._machine.isolation().level
        if self._machine.demanded not in (None, level):
            raise LaunchRefused("isolation_unavailable", self._machine.isolation().said[0])
        if level is not IsolationLevel.L1 and isinstance(request.image, Reference):
            raise LaunchRefused("image_unsupported", Said(Code.IMAGE_NEEDS_ISOLATION, {"image": request.image.name}))
        uid = self.uid_of(request.tenant_id) if level is IsolationLevel.L1 else None
        mounts, copies = resolve(request.mounts, self._volumes), resolve(request.copies, self._volumes)
        request = self._cards.granted(request, level)
        data = "" if self._data is None else str(self._data)
        trusted = software_sources.bundle(request.sources, self._home)
        given = rdma.granted(self._system) if request.rdma else rdma.RdmaGrant()
        own = (str(self._home), data, mounts, copies, trusted, cdi.edits_for(request), given)
        return RunSpec(request, level, uid, self._machine.use_cgroups, *own)

    def _registry(self) -> Path:
        self._home.mkdir(parents=True, exist_ok=True)
        return self._home / "uids.json"

    def _is_alive(self, run: RunDirectory) -> bool:
        """Whether the attempt may still do something."""
        return not run.exit.exists() and (not run.state.exists() or is_locked(run.lock))

    def is_over(self, ref: str) -> bool:
        """Also of one that was never created: nothing of it runs."""
        run = self._run(ref)
        return not run.path.is_dir() or not self._is_alive(run)

    def _look(self, ref: str) -> Observation:
        run = self._run(ref)
        if not run.path.is_dir():
            return self._vanished(ref)
        if not run.exit.exists():
            if not run.state.exists():
                raise CannotSee(Said(Code.STARTING))
            if is_locked(run.lock):
                return decode_observation(run.state.read_bytes())
        # The lock was found free before this second look: a shim that had finished in between left its record.
        if run.exit.exists():
            return decode_observation(run.exit.read_bytes())
        return self._lost(ref, last_state(run), last_words(run))

    def _vanished(self, ref: str) -> Observation:
        if not self._runs.is_dir():
            raise CannotSee(Said(Code.FOLDER_GONE, {"path": str(self._runs)}))
        return self._lost(ref, Observation(Phase.LOST), Said(Code.RUN_DIRECTORY_GONE))

    def _lost(self, ref: str, last: Observation, said: Said) -> Observation:
        """Proved gone: the shim is dead, and whatever it left behind is ended first."""
        group = cgroups.find(ref)
        if group is not None and not group.end_all(END_TIMEOUT_S):
            raise CannotSee(Said(Code.ENDING))
        if not processes.end_marked(MARKER, ref, END_TIMEOUT_S):
            raise CannotSee(Said(Code.ENDING))
        if group is not None:
            group.remove()
        disk_floor.vacate(self._runs, ref)
        remove_tree(self._run(ref).secret_files)
        gang_network.leave_for(self._run(ref), self._home)
        return replace(last, phase=Phase.LOST, progress=None, exit=Exit(None, None, ExitReason.LOST, said))


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
