"""Frames and greetings of a channel: however bytes are cut, whatever else comes, whoever is at the other end."""

import json
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.channel import frames, greeting
from apps.workloads.drivers.channel.frames import MAX_BODY, MAX_HEAD, Broken, Frame

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(), each, max_size=4),
    max_leaves=12,
)
HEADS = st.dictionaries(st.text(), JSON, max_size=5)
SEQUENCES = st.lists(st.tuples(HEADS, st.binary(max_size=3000)), max_size=5)


def reader(data: bytes, sizes: list[int]) -> Callable[[int], bytes]:
    """Hands the bytes out in pieces of these sizes, over and over."""
    position, turn = 0, 0

    def read(wanted: int) -> bytes:
        nonlocal position, turn
        size = min(wanted, sizes[turn % len(sizes)])
        turn += 1
        piece = data[position : position + size]
        position += len(piece)
        return piece

    return read


@given(SEQUENCES, st.lists(st.integers(1, 4000), min_size=1, max_size=8))
def test_frames_arrive_however_their_bytes_are_cut(sent: list[tuple[dict[str, Any], bytes]], sizes: list[int]) -> None:
    read = reader(b"".join(frames.encode(head, body) for head, body in sent), sizes)
    for head, body in sent:
        assert frames.decode(read) == Frame(json.loads(json.dumps(head)), body)
    assert frames.decode(read) is None


@given(HEADS, st.binary(max_size=200), st.data())
def test_the_beginning_of_a_frame_is_never_taken_for_one(
    head: dict[str, Any], body: bytes, data: st.DataObject
) -> None:
    whole = frames.encode(head, body)
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(Broken):
        frames.decode(reader(whole[:cut], [1000]))


@given(HEADS, st.binary(max_size=200), st.binary(max_size=200), st.integers(1, 500))
def test_no_byte_of_what_follows_a_frame_is_taken(head: dict[str, Any], body: bytes, after: bytes, size: int) -> None:
    read = reader(frames.encode(head, body) + after, [size])
    frames.decode(read)
    rest = b""
    while piece := read(1000):
        rest += piece
    assert rest == after


@given(
    st.binary(max_size=5000) | st.binary(max_size=500).map(lambda data: b"PL\0\0\0" + data),
    st.lists(st.integers(1, 100), min_size=1, max_size=4),
)
def test_garbage_is_broken_or_a_frame_and_nothing_else(data: bytes, sizes: list[int]) -> None:
    read = reader(data, sizes)
    try:
        while (frame := frames.decode(read)) is not None:
            assert isinstance(frame.head, dict)
    except Broken:
        pass


@given(st.binary(max_size=300))
def test_a_head_that_is_no_object_is_broken(content: bytes) -> None:
    try:
        is_object = isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        is_object = False
    read = reader(struct.pack(">2sII", b"PL", len(content), 0) + content, [1000])
    if is_object:
        assert frames.decode(read) is not None
    else:
        with pytest.raises(Broken):
            frames.decode(read)


def test_a_head_nested_beyond_reason_is_broken() -> None:
    content = b'{"a":' * 20000 + b"1" + b"}" * 20000
    with pytest.raises(Broken):
        frames.decode(reader(struct.pack(">2sII", b"PL", len(content), 0) + content, [65536]))


@given(
    st.one_of(
        st.tuples(st.integers(MAX_HEAD + 1, 2**32 - 1), st.integers(0, 2**32 - 1)),
        st.tuples(st.integers(0, 2**32 - 1), st.integers(MAX_BODY + 1, 2**32 - 1)),
    )
)
def test_a_frame_beyond_the_limits_is_refused_before_its_content_is_read(sizes: tuple[int, int]) -> None:
    asked: list[int] = []
    head = struct.pack(">2sII", b"PL", *sizes)

    def read(wanted: int) -> bytes:
        asked.append(wanted)
        assert len(asked) == 1, "nothing is read after the lengths"
        return head

    with pytest.raises(Broken):
        frames.decode(read)


def test_a_reader_may_allow_less() -> None:
    whole = frames.encode({"verb": "x" * 100})
    assert frames.decode(reader(whole, [1000]), largest=200) is not None
    with pytest.raises(Broken):
        frames.decode(reader(whole, [1000]), largest=100)


def test_what_no_reader_would_take_is_not_sent() -> None:
    with pytest.raises(ValueError, match="too large"):
        frames.encode({}, b"x" * (MAX_BODY + 1))
    with pytest.raises(ValueError, match="too large"):
        frames.encode({"x": "x" * MAX_HEAD})


def test_a_frame_that_trickles_is_waited_for_no_longer_than_allowed() -> None:
    ours, theirs = socket.socketpair()
    stop = threading.Event()

    def trickle() -> None:
        for byte in frames.encode({"verb": "x" * 100}):
            if stop.wait(0.1):
                return
            theirs.sendall(bytes([byte]))

    thread = threading.Thread(target=trickle)
    thread.start()
    with pytest.raises(TimeoutError):
        frames.receive(ours, 0.5, idle_s=60)
    assert thread.is_alive(), "there is more to come"
    stop.set()
    thread.join()
    for each in (ours, theirs):
        each.close()


# Greetings


def greeted(server: Callable[[socket.socket], Any], client: Callable[[socket.socket], Any]) -> tuple[Any, Any]:
    """What each end returned or raised."""
    ours, theirs = socket.socketpair()
    found: list[Any] = [None, None]

    def run(place: int, end: Callable[[socket.socket], Any], stream: socket.socket) -> None:
        try:
            found[place] = end(stream)
        except OSError as error:
            found[place] = error
        finally:
            stream.close()

    threads = [threading.Thread(target=run, args=each) for each in ((0, server, ours), (1, client, theirs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found[0], found[1]


def welcome(key: bytes | None) -> Callable[[socket.socket], Any]:
    return lambda stream: greeting.welcome(stream, key, ["observe"], 60)


def introduce(key: bytes | None, versions: tuple[int, int] = greeting.VERSIONS) -> Callable[[socket.socket], Any]:
    return lambda stream: greeting.introduce(stream, key, 60, versions)


@pytest.mark.parametrize("key", [None, b"secret"])
def test_two_that_know_each_other(key: bytes | None) -> None:
    assert greeted(welcome(key), introduce(key)) == (None, frozenset({"observe"}))


@pytest.mark.parametrize(("theirs", "ours"), [(b"a", b"b"), (b"a", None), (None, b"b"), (b"", None)])
def test_neither_believes_the_other_without_the_key(theirs: bytes | None, ours: bytes | None) -> None:
    server, client = greeted(welcome(theirs), introduce(ours))
    assert isinstance(server, OSError)
    assert isinstance(client, OSError)


def test_a_newer_client_speaks_the_older_servers_version() -> None:
    assert greeted(welcome(b"k"), introduce(b"k", (1, 7))) == (None, frozenset({"observe"}))


def test_a_client_that_no_longer_speaks_it_says_so() -> None:
    _, client = greeted(welcome(None), introduce(None, (2, 7)))
    assert isinstance(client, greeting.NoCommonVersion)


def test_a_newer_server_is_spoken_to_in_the_older_clients_version() -> None:
    chosen: list[Any] = []

    def newer(stream: socket.socket) -> None:
        frames.send(stream, {"channel": "plstack", "versions": [1, 9], "nonce": "n", "news": 1}, timeout_s=60)
        frame = frames.receive(stream, 60)
        assert frame is not None
        chosen.append(frame.head["version"])
        frames.send(stream, {"proof": "", "verbs": ["observe", "dance"]}, timeout_s=60)

    assert greeted(newer, introduce(None))[1] == {"observe", "dance"}
    assert chosen == [1]


def test_a_proof_cannot_be_sent_back_or_again() -> None:
    """Whoever only repeats what it hears, without the key, gets nowhere."""

    def mirror(stream: socket.socket) -> None:
        frame = frames.receive(stream, 60)
        assert frame is not None
        frames.send(stream, {"version": 1, "nonce": frame.head["nonce"], "proof": frame.head["nonce"]}, timeout_s=60)
        frames.receive(stream, 60)

    assert isinstance(greeted(welcome(b"k"), mirror)[0], Broken)

    def echo(stream: socket.socket) -> None:
        frames.send(stream, {"channel": "plstack", "versions": [1, 1], "nonce": "n"}, timeout_s=60)
        frame = frames.receive(stream, 60)
        assert frame is not None
        frames.send(stream, {"proof": frame.head["proof"], "verbs": ["observe"]}, timeout_s=60)

    assert isinstance(greeted(echo, introduce(b"k"))[1], Broken)


@given(HEADS)
def test_a_greeting_of_anything_else_is_broken(head: dict[str, Any]) -> None:
    def stranger(stream: socket.socket) -> None:
        frames.send(stream, head, timeout_s=60)
        frames.receive(stream, 60)

    assert isinstance(greeted(stranger, introduce(None))[1], OSError)
