"""The contract holds without any optional capability, and for ports that are reached by host and port."""

import socket
import threading
from collections.abc import Mapping, Sequence

import pytest

from apps.workloads.drivers.base import Driver, Handle, IsolationLevel, LaunchRequest, LogChunk, Observation
from apps.workloads.drivers.channel.both_ways import both_ways
from apps.workloads.drivers.sockets import Endpoint, connected
from apps.workloads.drivers.streams import ExecStream
from tests.drivers.conftest import MakeKit
from tests.drivers.contract_access import AccessContract
from tests.drivers.contract_ports import PortsContract
from tests.drivers.contract_yielding import YieldingContract
from tests.drivers.kit import Kit


class BareDriver:
    """The six methods of another driver and nothing else; its ports are on TCP, as a cluster's are."""

    name = "bare"

    def __init__(self, inner: Driver) -> None:
        self._inner = inner
        self._ports: dict[tuple[str, int], int] = {}

    def launch(self, request: LaunchRequest) -> Handle:
        return self._inner.launch(request)

    def observe(self, handle: Handle) -> Observation:
        return self._inner.observe(handle)

    def stop(self, handle: Handle, grace_s: float) -> None:
        self._inner.stop(handle, grace_s)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        return self._inner.logs(handle, offset, limit)

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        return self._inner.exec(handle, argv, tty, env)

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        self._inner.endpoint(handle, port)
        key = (handle.ref, port)
        if key not in self._ports:
            listener = socket.create_server(("127.0.0.1", 0))
            self._ports[key] = listener.getsockname()[1]
            threading.Thread(target=self._carry, args=(listener, handle, port), daemon=True).start()
        return Endpoint(host="127.0.0.1", port=self._ports[key])

    def _carry(self, listener: socket.socket, handle: Handle, port: int) -> None:
        while True:
            there, _ = listener.accept()
            here = connected(self._inner.endpoint(handle, port), None)
            threading.Thread(target=both_ways, args=(there, here), daemon=True).start()


class TestBareDriver(AccessContract, YieldingContract):
    @pytest.fixture
    def kit(self, make_kit: MakeKit) -> Kit:
        kit = make_kit(IsolationLevel.L0, False)
        kit.driver = BareDriver(kit.driver)
        return kit

    test_reached = PortsContract.test_a_port_of_the_loopback_is_reached
    test_halves = PortsContract.test_either_side_may_end_its_half_first
    test_much = PortsContract.test_much_goes_both_ways_and_arrives_whole
