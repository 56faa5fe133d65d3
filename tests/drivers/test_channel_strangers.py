"""Who a channel's server lets in, and whom a client believes."""

import os
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from apps.workloads.drivers.base import DriverError, Observation, Phase
from apps.workloads.drivers.channel import frames, greeting
from apps.workloads.drivers.channel.client import ChannelGone, Client
from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.observations import encode_observation
from tests.drivers.channels import KEY, FakeShim

STRANGER = 210_777


def test_another_user_is_not_even_greeted(fake_shim: FakeShim) -> None:
    if os.geteuid() != 0:
        pytest.skip("takes another user id")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{folder}/sock")
        Path(f"{folder}/sock").chmod(0o666)
        listener.listen()
        channel = Server(fake_shim)
        channel.listen(listener)
        assert said_to(f"{folder}/sock", STRANGER) == b"", "the user id of somebody else's"
        assert said_to(f"{folder}/sock", 0).startswith(b"PL"), "root's is heard"
        channel.close()


def said_to(path: str, uid: int) -> bytes:
    """The first bytes that a process of this user id gets."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.setresuid(uid, uid, uid)
            stream = socket.socket(socket.AF_UNIX)
            stream.settimeout(60)
            stream.connect(path)
            os.write(writer, stream.recv(100))
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, "rb") as pipe:
        return pipe.read()


def test_without_a_key_nobody_is_served_over_tcp(fake_shim: FakeShim) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with pytest.raises(ValueError, match="key"):
            Server(fake_shim).listen(listener)
        stream = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
        Server(fake_shim).serve(accepted)
        assert stream.recv(1) == b""
        stream.close()


def test_a_program_that_plays_the_shim_is_not_believed() -> None:
    """It took the port of a shim that was killed: it knows the protocol and lets everybody in, but has no key."""
    heard: list[frames.Frame | None] = []

    def lie(listener: socket.socket) -> None:
        stream, _ = listener.accept()
        with stream, suppress(OSError):
            frames.send(stream, {"channel": "plstack", "versions": [1, 1], "nonce": "n"}, timeout_s=60)
            frames.receive(stream, 60)
            frames.send(stream, {"proof": "0" * 64, "verbs": ["observe"]}, timeout_s=60)
            heard.append(frames.receive(stream, 60))
            frames.send(stream, {}, encode_observation(Observation(Phase.LOST)), 60)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        liar = threading.Thread(target=lie, args=(listener,))
        liar.start()
        client = Client(lambda: socket.create_connection(listener.getsockname()), KEY)
        with pytest.raises(ChannelGone):
            client.observe()
        liar.join()
    assert heard == [None], "nor is it asked anything"


def test_answers_that_make_no_sense_say_nothing() -> None:
    for head, body in [
        ({}, b"{"),
        ({}, b"[]"),
        ({"error": 3}, b""),
        ({"error": {"said": {}}}, b"{}"),
        ({}, b'{"phase":"x"}'),
    ]:
        ours, theirs = socket.socketpair()

        def answer(stream: socket.socket = theirs, head: object = head, body: bytes = body) -> None:
            greeting.welcome(stream, None, ["observe"], 60)
            frames.receive(stream, 60)
            frames.send(stream, head, body, 60)  # type: ignore[arg-type]

        thread = threading.Thread(target=answer)
        thread.start()
        client = Client(lambda stream=ours: stream)  # type: ignore[misc]
        with pytest.raises(DriverError):
            client.observe()
        thread.join()
