"""One attempt as its shim carries it out: image, mounts, barrier, program, exit record. Standard library only."""

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.workloads.drivers import fencing, software_sources
from apps.workloads.drivers.base import (
    PULL_CREDENTIAL,
    Exit,
    ExitReason,
    Image,
    IsolationLevel,
    Phase,
    Progress,
    Reference,
    RuntimeImage,
)
from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.local import (
    cgroups,
    channel,
    copies,
    dataset_copy,
    gang_network,
    runtime,
    stopping,
)
from apps.workloads.drivers.local.disk_watch import DiskWatch
from apps.workloads.drivers.local.environment import Command, command
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.masking import Masker, patterns
from apps.workloads.drivers.local.mounting import Launch, MountFailed, launch_command, prepare
from apps.workloads.drivers.local.oci import prepare as oci
from apps.workloads.drivers.local.oci.manifest import ImageConfig
from apps.workloads.drivers.local.oci.prepare import Unpacked
from apps.workloads.drivers.local.records import RunDirectory, RunSpec
from apps.workloads.drivers.local.stages import clear_up, stage_specs
from apps.workloads.drivers.local.stopping import StopFile
from apps.workloads.drivers.local.supervise import Supervisor
from apps.workloads.drivers.request import pull_credential_of_stage
from apps.workloads.drivers.said import Code, Said

BARRIER_LOOK_S = 0.1
MIB = 1024 * 1024


class Stopped(Exception):
    """A stop was asked for before the workload's own process existed."""


@dataclass(slots=True)
class Shim:
    """One attempt, from the image to the exit record."""

    run_directory: RunDirectory
    spec: RunSpec
    journal: Journal
    group: cgroups.Group | None = None
    disk: DiskWatch | None = None

    def run(self) -> None:
        stop = StopFile(self.run_directory.stop)
        self.journal.log_limit = self.spec.request.disk.log_mib * MIB
        self.journal.give_up = stop.is_asked
        if forms := patterns(secret.value or "" for secret in self.spec.request.secrets):
            self.journal.masker = Masker(forms)
        ref, data = str(self.spec.request.attempt_id), Path(self.spec.data)
        if self.spec.data:
            fencing.watch(data, ref, lambda: stopping.ask(self.run_directory.stop, 0.0))
        door = self.open_channel()
        ended = self._guarded(stop)
        if self.group is not None:
            self.group.remove()
        run = self.run_directory
        for directory in (run.secret_files, run.temporary, run.scratch, run.ports, run.root):
            remove_tree(directory)  # before the record: on a full disk, others wait for that room
        run.exec_socket.unlink(missing_ok=True)
        self._leave_network()
        self.journal.finish(self.verdict(ended))
        self.close_channel(door)
        if self.disk is not None:
            self.disk.leave()
        if self.spec.data and not fencing.is_up(data, ref):
            fencing.remove(data, ref)

    def open_channel(self) -> Server:
        """Where the driver asks."""
        return channel.serve(self.run_directory, self.spec, self.journal)

    def close_channel(self, door: Server) -> None:
        """Once the record is written."""
        door.close()
        self.run_directory.channel.unlink(missing_ok=True)

    def verdict(self, ended: Exit) -> Exit:
        """How it ended, as it is to be recorded."""
        return ended

    def prepare_files(self, spec: RunSpec) -> None:
        """Check and make what the program will find. Raises `MountFailed`."""
        prepare(spec, self.run_directory)

    def first_process(self, spec: RunSpec, base: Path | Unpacked, tools: Mapping[str, Path]) -> Launch:
        """How it is started. Raises `MountFailed`."""
        return launch_command(spec, self.run_directory, base, tools)

    def command(self, spec: RunSpec, base: Path | ImageConfig, tools: Mapping[str, Path]) -> Command:
        """What it runs."""
        return command(spec, self.run_directory, base, tools)

    def supervisor(self, spec: RunSpec, stop: StopFile) -> Supervisor:
        return Supervisor(spec, self.journal, stop, self.group)

    def _leave_network(self) -> None:
        gang = self.spec.request.gang
        if gang is not None:
            try:
                gang_network.leave(Path(self.spec.home), gang.group, self.run_directory.path.name)
            except OSError as error:
                self.journal.note(f"The members' network could not be left: {error}")

    def _guarded(self, stop: StopFile) -> Exit:
        try:
            return self._phases(stop)
        except Stopped:
            return Exit(None, None, ExitReason.STOPPED)
        except runtime.ImageFailed as error:
            self.journal.note("The image could not be prepared:\n" + str(error))
            return Exit(None, None, ExitReason.IMAGE_FAILED, error.said, error.output)
        except MountFailed as error:
            self.journal.note(str(error))
            return Exit(None, None, ExitReason.MOUNT_FAILED, error.said)
        except OSError as error:  # a full disk, mostly, while the runtime is built
            reason = ExitReason.IMAGE_FAILED if self.journal.phase is Phase.IMAGE else ExitReason.START_FAILED
            return Exit(None, None, reason, output=f"{error.strerror}")

    def _phases(self, stop: StopFile) -> Exit:
        request = self.spec.request
        with self.journal.step(Phase.IMAGE):
            base = self._prepare_image(request.image, stop)
            images = [self._fetch(stage.image, stop, pull_credential_of_stage(number))
                      for number, stage in enumerate(request.stages)]  # fmt: skip
            tools = {tool.name: self._prepare_runtime(tool, stop) for tool in request.tools}
        with self.journal.step(Phase.MOUNT):
            self._tick(stop)
            copies.place(self.spec, lambda: self._tick(stop), self.journal.report)
            # Held by this process, so by nobody once it is gone, however it ends.
            self.spec, _held = dataset_copy.provide(self.spec, lambda: self._tick(stop), self.journal.report)
            programs = [*zip(stage_specs(self.spec), images, strict=True), (self.spec, base)]
            self.group = self._make_group()
            listener = self._listen()
            launch = self._make_ready(*programs[0], tools)
        self._tick(stop)
        if request.gang is not None:
            self._wait_for_members(stop)
        ended = self._carry_out(*programs[0], tools, launch, listener, stop)
        for spec, image in programs[1:]:
            if ended.code != 0 or ended.reason is not ExitReason.EXITED:
                break
            clear_up(self.run_directory)
            self._tick(stop)
            ended = self._carry_out(spec, image, tools, self._make_ready(spec, image, tools), listener, stop)
        return ended

    def _make_ready(self, spec: RunSpec, image: Path | Unpacked, tools: Mapping[str, Path]) -> Launch:
        self.prepare_files(spec)
        return self.first_process(spec, image, tools)

    def _carry_out(
        self, spec: RunSpec, image: Path | Unpacked, tools: Mapping[str, Path], launch: Launch,
        listener: socket.socket, stop: StopFile,
    ) -> Exit:  # fmt: skip
        if self.disk is not None:
            self.disk.leave()
        supervisor = self.supervisor(spec, stop)
        self.disk = supervisor.disk
        of_image = image.config if isinstance(image, Unpacked) else image
        ended = supervisor.run(launch, self.command(spec, of_image, tools), listener)
        if ended.reason is ExitReason.START_FAILED:
            self.journal.note(f"The workload could not be started: {ended.detail}")
        return ended

    def _wait_for_members(self, stop: StopFile) -> None:
        with self.journal.step(Phase.BARRIER):
            self.journal.report(Progress(Said(Code.WAITING_FOR_MEMBERS)))
            while not self.run_directory.released.exists():
                self._tick(stop)
                time.sleep(BARRIER_LOOK_S)

    def _prepare_image(self, image: Image, stop: StopFile) -> Path | Unpacked:
        """A runtime's folder, or a container image, which this process holds for as long as it lives."""
        if isinstance(image, RuntimeImage):
            return self._prepare_runtime(image, stop)
        unpacked = self._fetch(image, stop)
        oci.check_program(self.spec.request, image, unpacked)
        return unpacked

    def _fetch(self, image: Reference, stop: StopFile, credential: str = PULL_CREDENTIAL) -> Unpacked:
        spec, tick = self.spec, lambda: self._tick(stop)
        trusted = (spec.certificates, credential)
        return oci.prepare(spec.request, image, Path(spec.home), self.journal.report, tick, self._way(), *trusted)

    def _way(self) -> dict[str, str]:
        """How what is downloaded for the run gets there."""
        return software_sources.proxy_variables(self.spec.request.sources.proxy, self.spec.request.sources.no_proxy)

    def _prepare_runtime(self, image: RuntimeImage, stop: StopFile) -> Path:
        runtimes = Path(self.spec.home) / "runtimes"
        variables = software_sources.variables(self.spec.request.sources, self.spec.certificates) | self._way()
        setup_log, tick = self.run_directory.setup_log, lambda: self._tick(stop)
        return runtime.Builder(image, runtimes, setup_log, self.journal.report, tick, variables).prepare()

    def _tick(self, stop: StopFile) -> None:
        self.journal.beat()
        if stop.is_asked():
            raise Stopped

    def _make_group(self) -> cgroups.Group | None:
        request = self.spec.request
        if not self.spec.use_cgroups:
            return None
        group = cgroups.create(str(request.attempt_id), request.memory_mib, request.cpu_milli)
        if group is None and self.spec.level is IsolationLevel.L1:
            self.journal.note("Control groups are not available: memory is watched, processor time is not limited.")
        return group

    def _listen(self) -> socket.socket:
        listener = channel.bound(self.run_directory.exec_socket)
        listener.listen()
        return listener
