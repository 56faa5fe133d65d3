"""A MIG card of another machine, asked for through its agent's signed door: made once, whatever is asked twice."""

import secrets
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pynvml
import pytest

from apps.workloads.drivers.base import DriverError, LaunchRefused
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote.client import Peer
from apps.workloads.drivers.remote.driver import RemoteDriver
from plstack.agent.calls import Calls
from plstack.agent.identity import Identity
from plstack.agent.server import Server
from tests.drivers.fake_nvml import FakeCard, install
from tests.drivers.kit import VOLUMES, Kit, eventually
from tests.drivers.test_partitions import TestGrants as Grants
from tests.ports import free_port


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> FakeCard:
    made = FakeCard(mig=pynvml.NVML_DEVICE_MIG_ENABLE)
    install(monkeypatch, made)
    return made


@pytest.fixture
def far(plain: Kit, home: Path) -> Iterator[RemoteDriver]:
    """The agent's door in this process, so that its card is the one of this test."""
    secret, port, node = secrets.token_bytes(32), free_port(), str(uuid4())
    folder = str(plain.code.parent)
    identity = Identity("http://127.0.0.1:9", node, "far", secret.hex(), folder, folder, "127.0.0.1", port)
    local = LocalDriver(home, plain.driver.isolation().level, False, volumes=VOLUMES)
    server = Server(identity, local, Calls(home, local, plain.root, plain.root, bytes.fromhex(identity.secret)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    peer = Peer(node, f"http://127.0.0.1:{port}", secret)
    yield RemoteDriver(lambda name: peer, lambda tenant: None)
    server.shutdown()
    server.server_close()


def test_a_partition_is_made_there_and_goes_with_its_attempt(far: RemoteDriver, card: FakeCard, plain: Kit) -> None:
    program = "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])"
    request = plain.python(program, devices=(Grants.SLICE,))
    handle = far.launch(request)
    made = card.instances[0].compute[0].uuid
    far.launch(request)
    assert card.created == 1
    eventually(lambda: far.observe(handle), lambda seen: seen.phase.is_final)
    assert far.logs(handle).data.decode().split()[-1] == made
    assert card.instances == []


def test_its_refusals_arrive_as_what_they_are(far: RemoteDriver, card: FakeCard, plain: Kit) -> None:
    with pytest.raises(LaunchRefused, match="offers no partition"):
        far.launch(plain.request("true", devices=(replace(Grants.SLICE, slot=9),)))
    card.needs_reset = True
    with pytest.raises(DriverError, match="next reset"):
        far.set_gpu_mode("far", card.uuid, "whole")
