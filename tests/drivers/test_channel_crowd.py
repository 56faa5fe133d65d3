"""A channel's server among clients that are slow, rude, silent, or many."""

import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from apps.workloads.drivers.base import Phase
from apps.workloads.drivers.channel import frames, server
from apps.workloads.drivers.channel.client import ChannelGone, Client
from apps.workloads.drivers.channel.server import MAX_CLIENTS
from tests.drivers.channels import FakeShim, Line, read_all
from tests.drivers.kit import MIB, eventually


@pytest.mark.parametrize(
    "sent", [b"GET / HTTP/1.1\r\n\r\n", struct.pack(">2sII", b"PL", 2**31, 0), b"PL\0\0\0\2\0\0\0\0[]"]
)
def test_what_is_no_frame_ends_that_stream_only(line: Line, fake_shim: FakeShim, sent: bytes) -> None:
    for begin in (line.dial, line.greeted):
        with begin() as stream:
            stream.settimeout(60)
            stream.sendall(sent)
            with suppress(ConnectionResetError):
                read_all(stream)
    assert line.client().observe() == fake_shim.observe()


def test_half_a_frame_is_left_behind(line: Line, fake_shim: FakeShim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.5)
    whole = frames.encode({"verb": "stop", "grace_s": 1})
    for cut in (1, 9, 10, len(whole) - 1):
        with line.greeted() as stream:
            stream.sendall(whole[:cut])
    with line.greeted() as stream:
        stream.settimeout(60)
        stream.sendall(whole[:-1])
        assert read_all(stream) == b"", "who does not go on is not waited for"
    assert fake_shim.graces == []
    assert line.client().observe() == fake_shim.observe()


def test_twenty_clients_at_a_time_get_their_own_answers(line: Line, fake_shim: FakeShim) -> None:
    def follow(number: int) -> bool:
        client, data = line.client(), b""
        for _ in range(40):
            data += client.logs(number + len(data), 1000 + number).data
            assert client.observe().phase is Phase.RUNNING
        return data == fake_shim.log[number : number + len(data)] and len(data) == 40 * (1000 + number)

    with ThreadPoolExecutor(20) as pool:
        assert all(pool.map(follow, range(20)))
    one = line.client()
    with ThreadPoolExecutor(20) as pool:
        assert len({chunk.data for chunk in pool.map(lambda n: one.logs(n, 1000), range(200))}) == 200


def test_slow_readers_hold_up_nobody(line: Line, fake_shim: FakeShim) -> None:
    with ExitStack() as stack:
        for _ in range(20):
            slow = stack.enter_context(line.greeted())
            frames.send(slow, {"verb": "logs", "offset": 0, "limit": MIB}, timeout_s=60)
        time.sleep(0.2)
        began = time.monotonic()
        client = line.client()
        for _ in range(20):
            assert client.observe() == fake_shim.observe()
        assert time.monotonic() - began < server.SEND_S, "so long one of them is waited for"
        frame = frames.receive(slow, 60)
        assert frame is not None
        assert frame.body == fake_shim.log[:MIB], "and what was slow is whole"


def test_a_question_that_hangs_holds_up_nobody_else(line: Line, fake_shim: FakeShim) -> None:
    fake_shim.hangs.clear()
    client = line.client(answer_s=0.5)
    with pytest.raises(ChannelGone):
        client.observe()
    client._answer_s = 60.0
    assert client.logs(0, 10).data == fake_shim.log[:10]
    fake_shim.hangs.set()
    assert client.observe() == fake_shim.observe()


def test_a_server_that_hung_is_left_to_rest(line: Line, fake_shim: FakeShim) -> None:
    fake_shim.hangs.clear()
    dialled: list[socket.socket] = []
    client = Client(lambda: dialled.append(line.dial()) or dialled[-1], line.key, 0.3, 3600.0)  # type: ignore[func-returns-value]
    with pytest.raises(ChannelGone):
        client.observe()
    fake_shim.hangs.set()
    with pytest.raises(ChannelGone):
        client.observe()
    assert len(dialled) == 1, "it is not asked again"
    client._rests_until = time.monotonic()  # its rest is over
    client._answer_s = 60.0
    assert client.observe() == fake_shim.observe()


def test_a_full_house_makes_room_for_who_has_something_to_say(line: Line, fake_shim: FakeShim) -> None:
    """Whoever only connects, or has been silent for longest, gives up its place; its client goes on with another."""
    client = line.client()
    client.observe()
    with ExitStack() as stack:
        for number in range(2 * MAX_CLIENTS):
            stack.enter_context((line.dial if number % 2 else line.greeted)())
        assert client.observe() == fake_shim.observe()
        assert line.client().observe() == fake_shim.observe()
        assert len(line.server._clients) <= MAX_CLIENTS
    eventually(lambda: len(line.server._clients), lambda count: count <= 2)
