"""The driver's end of a shim's channel: an `AttemptAccess` over any stream that leads there."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar

from apps.workloads.drivers.base import LogChunk, LogTime, Observation, Usage
from apps.workloads.drivers.channel import frames, greeting
from apps.workloads.drivers.channel.execution import RemoteExec
from apps.workloads.drivers.channel.frames import Frame
from apps.workloads.drivers.errors import CannotSee, Unsupported, error_in
from apps.workloads.drivers.notices import Notice
from apps.workloads.drivers.observations import decode_observation
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.streams import ExecStream

ANSWER_S = 15.0

T = TypeVar("T")


class ChannelGone(CannotSee):
    """Nobody answers there, or not in time, or not in words that make sense. Nothing follows about the attempt."""


class Client:
    """Keeps a connection for the next question; for use by several threads, and by a process that forks.

    `dial` connects a stream to the server; raises OSError. `key`: what both ends have to prove that they know.
    `rest_s`: how long a server that took the question and gave no answer is not asked again.
    """

    def __init__(
        self,
        dial: Callable[[], socket.socket],
        key: bytes | None = None,
        answer_s: float = ANSWER_S,
        rest_s: float = 0.0,
    ) -> None:
        self._dial = dial
        self._key = key
        self._answer_s = answer_s
        self._rest_s = rest_s
        self._rests_until = 0.0
        self._verbs: frozenset[str] = frozenset()
        self._idle: list[socket.socket] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def observe(self) -> Observation:
        frame = self._ask({"verb": "observe"})
        return _read(lambda: decode_observation(frame.body))

    def logs(self, offset: int = 0, limit: int = 65536) -> LogChunk:
        frame = self._ask({"verb": "logs", "offset": offset, "limit": limit})
        return _read(lambda: _chunk(frame, offset))

    def metrics(self, since_s: float = 0.0) -> list[Usage]:
        found: list[Usage] = []
        while True:
            frame = self._ask({"verb": "metrics", "since_s": found[-1].at_s if found else since_s})
            more = _samples(frame)
            found += more
            if not more or not frame.head.get("more"):
                return found

    def listens(self, port: int) -> bool:
        return bool(self._ask({"verb": "listens", "port": port}).head.get("listens"))

    def connect(self, port: int) -> socket.socket:
        stream, _frame = self._exchange({"verb": "connect", "port": port})
        stream.settimeout(None)
        return stream

    def tell(self, notice: Notice | None) -> None:
        self._ask({"verb": "tell", "notice": None if notice is None else asdict(notice)})

    def stop(self, grace_s: float) -> None:
        self._ask({"verb": "stop", "grace_s": grace_s})

    def exec(self, argv: Sequence[str], tty: bool, env: Mapping[str, str]) -> ExecStream:
        head = {"verb": "exec", "argv": list(argv), "tty": tty, "env": dict(env)}
        stream, _frame = self._exchange(head)
        stream.settimeout(None)
        return RemoteExec(stream, tty)

    def begin(self, members: Sequence[str]) -> None:
        self._ask({"verb": "begin", "members": list(members)})

    def fail(self, said: Said) -> None:
        self._ask({"verb": "fail", "said": said.as_json()})

    def release(self) -> None:
        """The driver needs no more answers; a shim that stayed for them may leave."""
        self._ask({"verb": "release"})

    def close(self) -> None:
        """Of what is kept; the next question opens another connection."""
        with self._lock:
            idle, self._idle = self._idle, []
        for stream in idle:
            stream.close()

    def _ask(self, head: dict[str, Any]) -> Frame:
        stream, frame = self._exchange(head)
        with self._lock:
            is_kept = not self._idle and self._process == os.getpid()
            if is_kept:
                self._idle.append(stream)
        if not is_kept:
            stream.close()
        return frame

    def _exchange(self, head: dict[str, Any]) -> tuple[socket.socket, Frame]:
        """The stream with the answer to the one question that was asked on it. Raises what the server answered."""
        stream, is_fresh = self._taken()
        while True:
            try:
                frame = self._asked(stream, head)
            except OSError as error:
                stream.close()
                # One that was kept may have been closed meanwhile, by a server that needed its place or is gone.
                if is_fresh or isinstance(error, TimeoutError):
                    raise self._gone(error) from error
                stream, is_fresh = self._open(), True
            except BaseException:
                stream.close()
                raise
            else:
                return stream, self._understood(stream, frame)

    def _asked(self, stream: socket.socket, head: dict[str, Any]) -> Frame:
        if head["verb"] not in self._verbs:
            raise Unsupported(Said(Code.UNKNOWN_VERB, {"verb": head["verb"]}))
        frames.send(stream, head, timeout_s=self._answer_s)
        frame = frames.receive(stream, self._answer_s)
        if frame is None:
            raise frames.Broken("no answer")
        return frame

    def _understood(self, stream: socket.socket, frame: Frame) -> Frame:
        error = frame.head.get("error")
        if error is None:
            return frame
        stream.close()
        raise _read(lambda: error_in(error))

    def _taken(self) -> tuple[socket.socket, bool]:
        with self._lock:
            if self._process != os.getpid():  # a child of the process whose streams these are
                self._process, inherited, self._idle = os.getpid(), self._idle, []
                for each in inherited:
                    each.close()
            kept = self._idle.pop() if self._idle else None
        return (kept, False) if kept is not None else (self._open(), True)

    def _open(self) -> socket.socket:
        if time.monotonic() < self._rests_until:
            raise ChannelGone(Said(Code.SHIM_SILENT))
        try:
            stream = self._dial()
        except OSError as error:
            raise self._gone(error) from error
        try:
            with suppress(OSError):  # a Unix socket has no such option
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._verbs = greeting.introduce(stream, self._key, self._answer_s)
        except OSError as error:
            stream.close()
            raise self._gone(error) from error
        return stream

    def _gone(self, error: OSError) -> ChannelGone:
        if not isinstance(error, TimeoutError):
            return _senseless(error)
        self._rests_until = time.monotonic() + self._rest_s
        return ChannelGone(Said(Code.SHIM_SILENT))


def _chunk(frame: Frame, offset: int) -> LogChunk:
    head = frame.head
    times = tuple(LogTime(int(offset), int(at)) for offset, at in head.get("times", ()))  # older shims tell none
    chunk = LogChunk(
        frame.body, int(head["offset"]), int(head["next_offset"]), bool(head["complete"]), times, head.get("size")
    )
    if chunk.offset != offset or chunk.next_offset != offset + len(chunk.data):
        raise ValueError("not the bytes that were asked for")
    return chunk


def _samples(frame: Frame) -> list[Usage]:
    return _read(lambda: [Usage(**fields) for fields in json.loads(frame.body)])


def _read(parse: Callable[[], T]) -> T:
    try:
        return parse()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _senseless(error) from error


def _senseless(error: Exception) -> ChannelGone:
    return ChannelGone(Said(Code.UNREADABLE, {"error": f"{type(error).__name__}: {error}"}))
