"""A channel's server and client over any stream: questions, ports, versions, forks."""

import os
import socket
import threading
from contextlib import suppress

import pytest

from apps.workloads.drivers.base import CannotSee, DriverError, LogChunk, Phase, Unsupported
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.channel import frames, server
from apps.workloads.drivers.channel.access import AttemptAccess
from apps.workloads.drivers.channel.client import ChannelGone, Client
from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.said import Code, Said
from tests.drivers.channels import KEY, FakeShim, Line, read_all
from tests.drivers.kit import MIB


def test_every_question_is_answered(line: Line, fake_shim: FakeShim) -> None:
    client: AttemptAccess = line.client()
    assert client.observe() == fake_shim.observe()
    assert client.logs(7, 100) == fake_shim.logs(7, 100)
    assert client.logs(len(fake_shim.log), 100) == LogChunk(b"", len(fake_shim.log), len(fake_shim.log), True)
    assert client.metrics(3.0) == fake_shim.metrics(3.0)
    assert (client.listens(80), client.listens(81)) == (True, False)
    client.tell(Notice("guarantee", 1.5, 2.0))
    client.tell(None)
    assert fake_shim.told == [Notice("guarantee", 1.5, 2.0), None]
    client.stop(30.0)
    assert fake_shim.graces == [30.0]


def test_a_chunk_is_never_larger_than_a_frame(line: Line, fake_shim: FakeShim) -> None:
    data, client = b"", line.client()
    while not (chunk := client.logs(len(data), 100 * MIB)).complete:
        assert len(chunk.data) <= frames.MAX_BODY
        data += chunk.data
    assert data + chunk.data == fake_shim.log


def test_a_port_is_the_stream_from_then_on(line: Line) -> None:
    client = line.client()
    with client.connect(80) as stream:
        sent = os.urandom(4 * MIB)
        pusher = threading.Thread(target=lambda: (stream.sendall(sent), stream.shutdown(socket.SHUT_WR)))
        pusher.start()
        assert read_all(stream) == sent
        pusher.join()
    with pytest.raises(DriverError) as error:
        client.connect(81)
    assert error.value.said == Said(Code.NOT_LISTENING, {"port": 81})
    assert not isinstance(error.value, CannotSee)


def test_what_goes_wrong_in_one_answer_ends_nothing_else(line: Line, fake_shim: FakeShim) -> None:
    client = line.client()
    with pytest.raises(CannotSee, match="ZeroDivisionError"):
        client.stop(-1)
    with line.greeted() as stream:
        for rude in ({}, {"verb": None}, {"verb": ["logs"]}, {"verb": "dance"}, {"verb": "logs"}, {"verb": "connect"},
                     {"verb": "logs", "offset": "x", "limit": 1}, {"verb": "tell", "notice": 3},
                     {"verb": "connect", "port": "ssh"}, {"verb": "stop", "grace_s": {}}):  # fmt: skip
            frames.send(stream, rude, timeout_s=60)
            answer = frames.receive(stream, 60)
            assert answer is not None
            assert "error" in answer.head, rude
        frames.send(stream, {"verb": "observe"}, timeout_s=60)
        assert frames.receive(stream, 60) is not None
    assert client.observe() == fake_shim.observe()


def test_an_older_server_is_asked_for_nothing_that_it_does_not_know(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_VERBS", {"observe": server._VERBS["observe"]})
    older = Line(Server(FakeShim(), KEY), line.dial, None).server
    ours, theirs = socket.socketpair()
    older.serve(theirs)
    client = Client(lambda: ours, KEY)
    assert client.observe().phase is Phase.RUNNING
    with pytest.raises(Unsupported):
        client.tell(None)


def test_a_closed_server_ends_every_stream(line: Line) -> None:
    client, port, half = line.client(), line.client().connect(80), line.greeted()
    client.observe()
    line.server.close()
    for stream in (port, half):
        stream.settimeout(60)
        with suppress(ConnectionResetError):
            assert stream.recv(1) == b""
        stream.close()
    with pytest.raises(ChannelGone):
        client.observe()


def test_a_child_does_not_share_its_parents_stream(line: Line, fake_shim: FakeShim) -> None:
    client = line.client()
    client.observe()
    if line.key is None and isinstance(line.dial(), socket.socket) and "socketpair" in line.dial.__qualname__:
        pytest.skip("a child has no way to a pair")
    child = os.fork()
    if child == 0:
        ok = False
        with suppress(BaseException):
            ok = all(client.logs(n, 10).data == fake_shim.log[n : n + 10] for n in range(200))
        os._exit(0 if ok else 1)
    assert all(client.logs(n, 20).data == fake_shim.log[n : n + 20] for n in range(200))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_released_is_what_a_driver_says(line: Line) -> None:
    assert not line.server.released.is_set()
    line.client().release()
    assert line.server.released.wait(60)  # once the answer is on its way
