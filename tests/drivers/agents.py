"""An agent as a process of its own, with its own home, and the driver that speaks to it."""

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.remote import client
from apps.workloads.drivers.remote.client import Peer
from apps.workloads.drivers.remote.driver import RemoteDriver
from plstack.agent.identity import MARKER, Identity, save
from tests.ports import free_port

ROOT = Path(__file__).parents[2]


class Agent:
    """`data` is where the platform's folder `platform_data` is mounted on the agent's machine."""

    before: tuple[str, ...] = ()
    """The command that starts it, up to its own."""

    def __init__(
        self,
        home: Path,
        data: Path,
        platform_data: Path,
        server: str = "http://127.0.0.1:9",
        host: str = "127.0.0.1",
    ) -> None:
        self.home, self.port, self.secret = home, free_port(), secrets.token_bytes(32)
        self.node_id = str(uuid4())
        (data / MARKER).touch()
        identity = Identity(
            server=server,
            node_id=self.node_id,
            name="far",
            secret=self.secret.hex(),
            data=str(data),
            platform_data=str(platform_data),
            host=host,
            port=self.port,
        )
        save(home, identity)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def peer(self) -> Peer:
        return Peer(self.node_id, f"http://127.0.0.1:{self.port}", self.secret)

    @property
    def driver(self) -> RemoteDriver:
        return RemoteDriver(lambda name: self.peer, lambda tenant: None)

    def start(self) -> None:
        """Returns when it answers."""
        self.process = subprocess.Popen(
            [*self.before, sys.executable, "-m", "plstack.agent", "run", "--home", str(self.home)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
            stderr=open(self.home / "agent.log", "ab"),  # noqa: SIM115 - the process's own
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            client._resting.clear()
            with suppress(CannotSee):
                client.call(self.peer, "known", {})
                return
            assert time.monotonic() < deadline, (self.home / "agent.log").read_text()
            time.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL, as the kernel does to a process that takes too much."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
