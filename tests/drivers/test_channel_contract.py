"""The contract over a shim's channel alone: a driver that shares no folder with the shim, and reaches it by TCP."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from apps.workloads.drivers.base import (
    CannotSee,
    DriverError,
    Handle,
    Isolation,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    LogChunk,
    Observation,
    Unsupported,
    Usage,
)
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.channel.client import Client
from apps.workloads.drivers.channel.forwarding import Forwards
from apps.workloads.drivers.images import Reference
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.checks import check
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.records import MARKER, encode_spec
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream
from tests.drivers import pod
from tests.drivers.conftest import MakeKit, control_groups_work
from tests.drivers.contract_access import AccessContract
from tests.drivers.contract_disk import DiskContract
from tests.drivers.contract_ports import PortsContract
from tests.drivers.contract_running import RunningContract
from tests.drivers.contract_yielding import YieldingContract
from tests.drivers.kit import NODE, VOLUMES, Kit

ROOT = Path(__file__).parents[2]
LEVELS = [IsolationLevel.L1, IsolationLevel.L0]


class Pod:
    """The process, and what is known of it: a port and a key."""

    def __init__(self, ref: str, spec: bytes, folder: Path) -> None:
        self.ref = ref
        self.key = secrets.token_bytes(32)
        self.process = subprocess.Popen(
            [sys.executable, str(pod.__file__)], cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"spec": json.loads(spec), "key": self.key.hex()}).encode())
        self.process.stdin.close()
        self.port = int(self.process.stdout.readline())
        self.client = Client(lambda: socket.create_connection(("127.0.0.1", self.port), 60), self.key)

    def end(self) -> None:
        self.client.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        processes.end_marked(MARKER, self.ref, 5)  # a pod takes all of its processes with it


class PodDriver:
    """A driver that knows nothing of an attempt but what its shim says."""

    name = "pods"

    def __init__(self, planner: LocalDriver, folder: Path) -> None:
        self._planner = planner
        self._folder = folder  # where pods put theirs, so that none is left behind
        self._forwards = Forwards()
        self.pods: dict[str, Pod] = {}

    def launch(self, request: LaunchRequest) -> Handle:
        check(request)
        if isinstance(request.image, Reference):
            raise LaunchRefused("image_unsupported", Said(Code.NO_REFERENCES, {"image": request.image.name}))
        ref = str(request.attempt_id)
        if ref not in self.pods:
            self.pods[ref] = Pod(ref, encode_spec(self._planner._decide(request)), self._folder)
        return Handle(self.name, request.node, ref)

    def observe(self, handle: Handle) -> Observation:
        return self._client(handle).observe()

    def stop(self, handle: Handle, grace_s: float) -> None:
        self._client(handle).stop(grace_s)

    def tell(self, handle: Handle, notice: Notice | None) -> None:
        self._client(handle).tell(notice)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        return self._client(handle).logs(offset, limit)

    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        return self._client(handle).metrics(since_s)

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        raise Unsupported(Said(Code.NO_STREAM))

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        client = self._client(handle)
        if not client.listens(port):
            raise DriverError(Said(Code.NOT_LISTENING, {"port": port}))
        name = f"{handle.ref}-{port}"
        return Endpoint(socket_path=str(self._forwards.path(name, lambda: client.connect(port))))

    def isolation(self, node: str) -> Isolation:
        return self._planner.isolation(node)

    def forget(self, handle: Handle) -> None:
        if handle.ref not in self.pods:
            return
        if not self.observe(handle).phase.is_final:
            raise DriverError(Said(Code.NOT_ENDED))
        self._client(handle).release()
        assert self.pods.pop(handle.ref).process.wait(30) == 0

    def _client(self, handle: Handle) -> Client:
        return self.pods[handle.ref].client


@pytest.fixture
def pods(make_kit: MakeKit, home: Path) -> Iterator[MakeKit]:
    made: list[PodDriver] = []
    folder = Path(tempfile.mkdtemp())  # with a short name, which programs on L0 see
    folder.chmod(0o755)

    def make(level: IsolationLevel, use_cgroups: bool) -> Kit:
        kit = make_kit(level, use_cgroups)
        kit.driver = PodDriver(LocalDriver(home, level, use_cgroups, volumes=VOLUMES), folder)
        made.append(kit.driver)
        return kit

    yield make
    for driver in made:
        for each in driver.pods.values():
            each.end()
    remove_tree(folder)


@pytest.mark.parametrize("level", LEVELS)
class TestOverTcp(RunningContract, AccessContract, PortsContract, YieldingContract, DiskContract):
    @pytest.fixture
    def kit(self, level: IsolationLevel, pods: MakeKit) -> Kit:
        return pods(level, control_groups_work())

    def test_a_terminal_into_it(self, kit: Kit) -> None:
        """Not by the channel: what runs work elsewhere has its own way in."""
        with pytest.raises(Unsupported):
            kit.driver.exec(kit.launch(kit.request("true")), ["sh"], tty=True)

    test_a_command_into_it = test_a_terminal_into_it


def test_a_pod_that_is_gone_cannot_be_seen(pods: MakeKit) -> None:
    kit = pods(IsolationLevel.L0, False)
    handle = kit.launch(kit.python("import time; print('ready'); time.sleep(60)"))
    kit.wait_output(handle, "ready")
    kit.driver.pods[handle.ref].end()
    for ask in (kit.driver.observe, kit.driver.logs):
        with pytest.raises(CannotSee):
            ask(handle)


def test_nobody_without_the_key_is_answered_or_believed(pods: MakeKit) -> None:
    kit = pods(IsolationLevel.L0, False)
    handle = kit.launch(kit.python("import time; print('ready'); time.sleep(60)"))
    kit.wait_output(handle, "ready")
    port = kit.driver.pods[handle.ref].port
    for key in (None, b"", b"another"):
        stranger = Client(lambda: socket.create_connection(("127.0.0.1", port), 5), key, answer_s=2)
        with pytest.raises(CannotSee):
            stranger.stop(0)
    assert not kit.driver.observe(handle).phase.is_final
    with suppress(DriverError):
        kit.driver.stop(handle, 0)
    assert kit.wait(Handle(kit.driver.name, NODE, handle.ref)).phase.is_final
