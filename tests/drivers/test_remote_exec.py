"""The exit of a process on another machine is told after what it had printed."""

import json
import os
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from apps.workloads.drivers.channel import exec_frames as frames
from apps.workloads.drivers.channel import execution
from apps.workloads.drivers.channel.exec_frames import Kind
from apps.workloads.drivers.channel.execution import RemoteExec
from apps.workloads.drivers.channel.sessions import Session
from tests.drivers.kit import eventually

PRINTED = b"y\n" * 150_000  # more than a pipe holds


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    yield here, there
    for end in (here, there):
        end.close()


def is_readable(descriptor: int, timeout_s: float) -> bool:
    return bool(select.select([descriptor], [], [], timeout_s)[0])


def test_the_exit_waits_for_output_that_nobody_has_read(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    stream = RemoteExec(here, tty=True)
    for start in range(0, len(PRINTED), 30_000):
        frames.send(there, Kind.OUTPUT, PRINTED[start : start + 30_000])
    frames.send(there, Kind.EXIT, json.dumps(5).encode())
    assert stream.wait(60) == 5
    assert not is_readable(stream.exit_fileno(), 0), "most of the output waits behind a full pipe"
    seen = b""
    while not is_readable(stream.exit_fileno(), 0):
        if is_readable(stream.fileno(), 0.01):
            seen += stream.read(16_384)
    while is_readable(stream.fileno(), 0):
        seen += stream.read()
    assert seen == PRINTED
    stream.close()


class Ended:
    """A process that has printed and ended, whose output somebody else holds open."""

    def __init__(self) -> None:
        self.output, self.held = os.pipe()
        self.exit, told = os.pipe()
        os.write(self.held, b"x" * 60_000)
        os.close(told)

    def fileno(self) -> int:
        return self.output

    def input_fileno(self) -> int:
        return self.held

    def error_fileno(self) -> None:
        return None

    def exit_fileno(self) -> int:
        return self.exit

    def read(self) -> bytes:
        return os.read(self.output, 4096)

    def wait(self, timeout_s: float) -> int:
        return 0

    def release(self) -> None:
        os.close(self.held)


def test_an_agent_sends_the_exit_behind_what_was_printed(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    process: Any = Ended()
    session = Session(there, process)
    process.release()
    session._send_output()
    there.shutdown(socket.SHUT_WR)
    told = list(frames.receive(here))
    assert sum(len(content) for kind, content in told if kind is Kind.OUTPUT) == 60_000
    kinds = [kind for kind, _content in told]
    assert max(place for place, kind in enumerate(kinds) if kind is Kind.OUTPUT) < kinds.index(Kind.EXIT)
    assert kinds.count(Kind.OUTPUT_END) == kinds.count(Kind.EXIT) == 1


class Numbers:
    """`os` as the module sees it, which counts what is opened and closed there: other tests have descriptors too."""

    def __init__(self) -> None:
        self.opened: Counter[int] = Counter()
        self.closed: Counter[int] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self.opened.update(ends)
        return ends

    def eventfd(self, initial: int, flags: int) -> int:
        number = os.eventfd(initial, flags)
        self.opened[number] += 1
        return number

    def close(self, number: int) -> None:
        if number in self.opened:  # else it was a stream's of a test before, whose threads are still ending
            self.closed[number] += 1
        os.close(number)


@pytest.mark.parametrize("tty", [True, False])
@pytest.mark.parametrize("ends_first", [True, False])
def test_each_descriptor_is_closed_once(
    ends: tuple[socket.socket, socket.socket], tty: bool, ends_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = ends
    before = set(threading.enumerate())
    numbers = Numbers()
    monkeypatch.setattr(execution, "os", numbers)
    stream = RemoteExec(here, tty=tty)
    if ends_first:
        frames.send(there, Kind.EXIT, b"0")
        assert stream.wait(60) == 0
    there.shutdown(socket.SHUT_WR)
    stream.close()
    stream.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()
    assert here.fileno() == -1, "the connection is closed too"
    assert len(numbers.opened) == (7 if tty else 9), "pipes for input, output, errors and the end, and what wakes"
    assert {number: numbers.closed[number] for number in numbers.opened} == numbers.opened


def fill(stream: RemoteExec) -> None:
    os.set_blocking(stream.input_fileno(), False)
    for _attempt in range(12):  # until the pipe and the connection are full
        with suppress(BlockingIOError):
            while True:
                os.write(stream.input_fileno(), bytes(65_536))
        time.sleep(0.1)


def test_a_process_that_reads_no_input_holds_nobody_up(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "TELL_TIMEOUT_S", 4.0)
    before = set(threading.enumerate())
    stream = RemoteExec(ends[0], tty=False)
    fill(stream)
    began = time.monotonic()
    stream.resize(24, 80)
    stream.signal(15)
    assert time.monotonic() - began < execution.TELL_TIMEOUT_S
    stream.close()
    assert time.monotonic() - began < execution.TELL_TIMEOUT_S + execution.CLOSE_TIMEOUT_S, "its exit is not waited for"
    eventually(lambda: set(threading.enumerate()) - before, lambda ours: not ours)


class Deaf(Ended):
    """A process that runs, and reads nothing, until it is killed."""

    def __init__(self) -> None:
        self.output, self.held = os.pipe()
        self._input, self.into = os.pipe()
        self.exit, self.told = os.pipe()
        self.signals: list[int] = []

    def input_fileno(self) -> int:
        return self.into

    def signal(self, number: int) -> None:
        if not self.signals:
            os.close(self.told)
        self.signals.append(number)

    def close(self) -> None:
        for descriptor in (self.output, self.held, self._input, self.into, self.exit):
            os.close(descriptor)


def open_files() -> set[tuple[str, str]]:
    """Of this process, with what each is: threads of a test before may still be closing theirs."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


def test_an_agent_ends_a_process_that_reads_no_input(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    before = open_files()
    process: Any = Deaf()
    serving = threading.Thread(target=Session(there, process).serve)
    serving.start()
    stream = RemoteExec(here, tty=False)
    fill(stream)
    stream.close()
    serving.join(60)
    assert set(process.signals) == {9}
    eventually(lambda: open_files() - before, lambda left: not left)
    eventually(lambda: {here.fileno(), there.fileno()}, lambda left: left == {-1})
