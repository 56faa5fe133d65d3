"""The shim's container of a pod. Standard library only.

Started as `python -I -S -c BOOT <archive>`; what it is to do lies in `places.GIVEN`, which no other container sees.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from apps.workloads.drivers.base import Exit, ExitReason, Image, RuntimeImage
from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.kubernetes.pod import places
from apps.workloads.drivers.kubernetes.pod.entry import Entry, enter
from apps.workloads.drivers.kubernetes.pod.places import SLOTS, PodRun
from apps.workloads.drivers.kubernetes.pod.supervise import PodSupervisor
from apps.workloads.drivers.local import cgroups, devices, execution, gang_network, stopping
from apps.workloads.drivers.local.attempt import Shim
from apps.workloads.drivers.local.channel import ShimAccess
from apps.workloads.drivers.local.environment import Command
from apps.workloads.drivers.local.gang_network import HOSTS_FILE, on_interface
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.linux import try_lock, write_atomic
from apps.workloads.drivers.local.mounting import Launch, MountFailed, check_mount
from apps.workloads.drivers.local.oci.manifest import ImageConfig
from apps.workloads.drivers.local.oci.prepare import Unpacked
from apps.workloads.drivers.local.preemption_notice import make_checkpoint_folder
from apps.workloads.drivers.local.records import RunSpec, decode_spec, encode_spec
from apps.workloads.drivers.local.runtime import ImageFailed
from apps.workloads.drivers.local.shim import with_values
from apps.workloads.drivers.local.stopping import StopFile
from apps.workloads.drivers.local.supervise import Supervisor
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.streams import ExecStream

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from apps.workloads.drivers.kubernetes.pod import shim; shim.main()"
)
BACKLOG = 128
INTERFACE = "eth0"
CLUSTER_GRACE_S = 20.0
"""For a program whose pod is taken away by the cluster; the pod's own grace is longer."""


class PodAccess(ShimAccess):
    """All that leads into the pod leads through here."""

    def __init__(self, run: PodRun, spec: RunSpec, journal: Journal) -> None:
        super().__init__(run, spec, journal)
        self._pod = run

    def exec(self, argv: Sequence[str], tty: bool, env: Mapping[str, str]) -> ExecStream:
        return execution.start(self._pod.exec_socket, argv, tty, None, env)

    def begin(self, members: Sequence[str]) -> None:
        if not self._pod.released.exists():
            write_atomic(self._pod.members, json.dumps(list(members)).encode())
            self._pod.released.touch(mode=0o600)

    def fail(self, said: Said) -> None:
        write_atomic(self._pod.failed, json.dumps(said.as_json()).encode())


@dataclass(slots=True)
class PodShim(Shim):
    """As on a machine, but that the cluster mounts, limits and fetches images."""

    key: bytes = b""
    entry: Entry | None = None
    is_taken_away: bool = False

    @property
    def pod(self) -> PodRun:
        return PodRun(self.run_directory.path)

    def open_channel(self) -> Server:
        server = Server(PodAccess(self.pod, self.spec, self.journal), self.key)
        server.listen(
            socket.create_server(("", places.PORT), backlog=BACKLOG, dualstack_ipv6=_has_ipv6(), family=_family())
        )
        self.journal.beat(force=True)  # the first: from here on it is known to answer
        return server

    def close_channel(self, door: Server) -> None:
        door.close()

    def verdict(self, ended: Exit) -> Exit:
        """What the cluster has ended is lost, whatever the program made of it."""
        if self.is_taken_away and ended.reason in (ExitReason.STOPPED, ExitReason.SIGNALLED):
            return replace(ended, reason=ExitReason.LOST, said=Said(Code.POD_TAKEN_AWAY))
        return ended

    def take_away(self, *_args: object) -> None:
        """SIGTERM: somebody deletes the pod, or the node goes down."""
        if not self.pod.stop.is_symlink():
            self.is_taken_away = True
            self.journal.note("The cluster ends this pod.")
        stopping.ask(self.pod.stop, CLUSTER_GRACE_S)

    def _prepare_image(self, image: Image, stop: StopFile) -> Path | Unpacked:
        base = self._prepare_runtime(image, stop) if isinstance(image, RuntimeImage) else None
        self.entry = enter(lambda: self._look(stop))
        if base is not None:
            return base
        config = ImageConfig(env=self.entry.env, workdir=self.entry.workdir, entrypoint=(), cmd=(), user="")
        return Unpacked(Path("/"), config, -1)

    def _look(self, stop: StopFile) -> None:
        self._tick(stop)
        if self.pod.failed.exists():
            raise ImageFailed(Said.from_json(json.loads(self.pod.failed.read_bytes())))

    def prepare_files(self, spec: RunSpec) -> None:
        for mount in spec.mounts:
            check_mount(mount)
        try:
            make_checkpoint_folder(spec)
        except OSError as error:
            raise MountFailed(Said(Code.FOLDERS_NOT_PREPARED, {"error": str(error.strerror)})) from error

    def _wait_for_members(self, stop: StopFile) -> None:
        super(PodShim, self)._wait_for_members(stop)
        members = json.loads(self.pod.members.read_bytes())
        slots = max(1, int(self.spec.request.env.get(SLOTS, "0")))
        (self.pod.notice / HOSTS_FILE).write_text(gang_network.hosts(members, slots))

    def first_process(self, spec: RunSpec, base: Path | Unpacked, tools: Mapping[str, Path]) -> Launch:
        return Launch([])

    def command(self, spec: RunSpec, base: Path | ImageConfig, tools: Mapping[str, Path]) -> Command:
        """The cluster says which cards it sees, and tells it in the container's own variables."""
        found = super(PodShim, self).command(spec, base, tools)
        own = self.entry.env if self.entry is not None else {}
        hidden = devices.environment(())
        told = {name: own[name] for name in hidden if name in own}
        env = {name: value for name, value in found.env.items() if name not in hidden} | told
        if spec.request.gang is not None:
            asked = spec.request.env
            env |= {name: asked.get(name, value) for name, value in on_interface(INTERFACE).items()}
        return replace(found, env=env)

    def _make_group(self) -> cgroups.Group | None:
        return self.entry.counters if self.entry is not None else None  # type: ignore[return-value]

    def supervisor(self, spec: RunSpec, stop: StopFile) -> Supervisor:
        supervisor = PodSupervisor(spec, self.journal, stop, self.group)
        if self.entry is not None:
            supervisor.meet(self.entry)
        return supervisor


def main() -> None:
    os.umask(0o022)
    given = Path(places.GIVEN)
    spec = decode_spec((given / "spec.json").read_bytes())
    run = PodRun(Path(places.RUNS, str(spec.request.attempt_id)))
    run.path.mkdir(mode=0o700, exist_ok=True)
    if try_lock(run.lock) is None or run.state.exists():
        sys.exit("This attempt has been begun already")
    run.spec.touch(mode=0o600)
    run.spec.write_bytes(encode_spec(spec))
    journal = Journal(run)
    values = json.loads((given / "secrets.json").read_bytes())
    shim = PodShim(run, with_values(spec, values), journal, key=(given / "key").read_bytes())
    signal.signal(signal.SIGTERM, shim.take_away)
    shim.run()
    os._exit(0)


def _has_ipv6() -> bool:
    return socket.has_dualstack_ipv6()


def _family() -> socket.AddressFamily:
    return socket.AF_INET6 if _has_ipv6() else socket.AF_INET


if __name__ == "__main__":
    main()
