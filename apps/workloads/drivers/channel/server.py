"""The shim's end of its channel: answers what a driver asks about one attempt. Standard library only.

Each client has a thread of its own. One that reads slowly, sends half a request or waits for storage that hangs holds
up itself and nobody else, least of all the thread that supervises the workload. Verbs may be repeated, since a client
whose connection broke cannot know whether it was heard.
"""

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from apps.workloads.drivers.channel import frames, greeting
from apps.workloads.drivers.channel.access import AttemptAccess, OnlyWay
from apps.workloads.drivers.channel.relays import Relays
from apps.workloads.drivers.channel.sessions import Session
from apps.workloads.drivers.errors import CannotSee, DriverError, Unsupported, error_out
from apps.workloads.drivers.notices import Notice
from apps.workloads.drivers.observations import encode_observation
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.streams import ExecStream

MAX_CLIENTS = 64
MAX_RELAYS = 384
MAX_SAMPLES = 4000
MAX_REQUEST = 16 * 1024
GREETING_S, REQUEST_S, SEND_S, IDLE_S = 5.0, 10.0, 30.0, 120.0
ACCEPT_AGAIN_S = 0.2
_CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): process, user and group id

Asked = Mapping[str, Any]
Answer = tuple[frames.Head, bytes]


class Server:
    """Serves `access` to whoever knows `key`. Without one, to processes of this one's user id, or root's, only.

    The key is for streams on which the kernel does not say who is there. `released` is set once a driver has said that
    it needs no more answers: a shim whose folder nobody else sees stays until then.
    """

    def __init__(self, access: AttemptAccess, key: bytes | None = None) -> None:
        self.released = threading.Event()
        self._access = access
        self._key = key
        self._relays = Relays(MAX_RELAYS)
        self._listeners: list[socket.socket] = []
        self._clients: dict[socket.socket, bool] = {}
        """Longest silent first; whether it may be closed in favour of a new one."""
        self._lock = threading.Lock()
        self._is_closed = False
        self._verbs = dict(_VERBS)
        self._takes_over = {"connect": self._connect, "release": self._release}
        """Verbs after whose answer something else happens, mostly that the stream belongs to it."""
        if isinstance(access, OnlyWay):
            self._verbs |= {
                "begin": lambda _access, asked: _begin(access, asked),
                "fail": lambda _access, asked: _fail(access, asked),
            }
            self._takes_over |= {"exec": lambda stream, asked: self._exec(access, stream, asked)}

    def listen(self, listener: socket.socket) -> None:
        """Take connections, in a thread. Raises ValueError for a listener at which anybody could be anyone."""
        if self._key is None and listener.family != socket.AF_UNIX:
            raise ValueError("Without a key, only a Unix socket tells who connects")
        with self._lock:
            self._listeners.append(listener)
        threading.Thread(target=self._accept, args=(listener,), name="channel", daemon=True).start()

    def serve(self, stream: socket.socket) -> None:
        """Speak with whoever is at the other end of a connected socket, in a thread."""
        if not self._is_admitted(stream) or not self._enter(stream):
            stream.close()
            return
        with suppress(OSError):  # a Unix socket has no such option
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            threading.Thread(target=self._converse, args=(stream,), name="channel client", daemon=True).start()
        except RuntimeError:  # no room for another thread
            self._leave(stream)

    def close(self) -> None:
        """Every stream ends, with what it had been sent."""
        with self._lock:
            self._is_closed = True
            ended = [*self._listeners, *self._clients]
        for each in ended:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for listener in self._listeners:
            listener.close()
        self._relays.close()

    def _accept(self, listener: socket.socket) -> None:
        while not self._is_closed:
            try:
                stream, _address = listener.accept()
            except OSError:  # closed, or no descriptor is left for now
                time.sleep(ACCEPT_AGAIN_S)
            else:
                self.serve(stream)

    def _is_admitted(self, stream: socket.socket) -> bool:
        if stream.family != socket.AF_UNIX:
            return self._key is not None
        if self._key is not None:
            return True
        try:
            found = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return False
        return _CREDENTIALS.unpack(found)[1] in (0, os.geteuid())

    def _enter(self, stream: socket.socket) -> bool:
        """Where all places are taken, the client that has been silent for longest, or has not proved itself, goes."""
        with self._lock:
            if self._is_closed:
                return False
            if len(self._clients) >= MAX_CLIENTS:
                silent = next((each for each, is_silent in self._clients.items() if is_silent), None)
                if silent is None:
                    return False
                del self._clients[silent]
                with suppress(OSError):
                    silent.shutdown(socket.SHUT_RDWR)
            self._clients[stream] = True
            return True

    def _leave(self, stream: socket.socket) -> None:
        with self._lock:
            self._clients.pop(stream, None)
        stream.close()

    def _mark(self, stream: socket.socket, is_silent: bool) -> None:
        with self._lock:
            if self._clients.pop(stream, None) is not None:
                self._clients[stream] = is_silent

    def _converse(self, stream: socket.socket) -> None:
        is_ours = True
        try:
            greeting.welcome(stream, self._key, [*self._verbs, *self._takes_over], GREETING_S)
            while is_ours and (frame := self._next(stream)) is not None:
                is_ours = self._obey(stream, frame.head)
        except (OSError, ValueError):  # it went away, is too slow, or makes no sense
            pass
        finally:
            if is_ours:
                self._leave(stream)

    def _next(self, stream: socket.socket) -> frames.Frame | None:
        self._mark(stream, is_silent=True)
        frame = frames.receive(stream, REQUEST_S, IDLE_S, MAX_REQUEST)
        self._mark(stream, is_silent=False)
        return frame

    def _obey(self, stream: socket.socket, asked: Asked) -> bool:
        """Answers; False once the stream belongs to a port or a process."""
        if take_over := self._takes_over.get(str(asked.get("verb"))):
            return take_over(stream, asked)
        head, body = _answered(self._verbs.get(str(asked.get("verb")), _unknown), self._access, asked)
        frames.send(stream, head, body, SEND_S)
        return True

    def _connect(self, stream: socket.socket, asked: Asked) -> bool:
        """From the answer on, the stream is the port's: the client sends nothing before it, and nothing is buffered."""
        found: list[socket.socket] = []

        def dial(access: AttemptAccess, asked: Asked) -> Answer:
            if self._relays.is_full:
                raise DriverError(Said(Code.NOT_ANSWERING, {"error": "too many connections"}))
            found.append(access.connect(int(asked["port"])))
            return {}, b""

        if not self._hand_over(stream, asked, dial, found):
            return True
        self._relays.add(stream, found[0])
        return False

    def _exec(self, access: OnlyWay, stream: socket.socket, asked: Asked) -> bool:
        """From the answer on, the stream is the process's; this client's thread serves it to its end."""
        found: list[ExecStream] = []

        def start(_access: AttemptAccess, asked: Asked) -> Answer:
            env = {str(name): str(value) for name, value in asked["env"].items()}
            found.append(access.exec([str(word) for word in asked["argv"]], bool(asked["tty"]), env))
            return {}, b""

        if not self._hand_over(stream, asked, start, found):
            return True
        stream.settimeout(None)
        Session(stream, found[0]).serve()
        return False

    def _hand_over(
        self,
        stream: socket.socket,
        asked: Asked,
        begin: Callable[[AttemptAccess, Asked], Answer],
        found: Sequence[socket.socket | ExecStream],
    ) -> bool:
        """Answer what `begin` makes of the question; whether the stream belongs to what it has put into `found`."""
        head, body = _answered(begin, self._access, asked)
        try:
            frames.send(stream, head, body, SEND_S)
        except OSError:
            for each in found:
                each.close()
            raise
        if found:
            with self._lock:
                self._clients.pop(stream, None)
        return bool(found)

    def _release(self, stream: socket.socket, _asked: Asked) -> bool:
        """Answers first: whoever waits for this may end the process at once."""
        try:
            frames.send(stream, {}, b"", SEND_S)
        finally:
            self.released.set()
        return True


def _answered(verb: Callable[[AttemptAccess, Asked], Answer], access: AttemptAccess, asked: Asked) -> Answer:
    try:
        return verb(access, asked)
    except DriverError as error:
        return {"error": error_out(error)}, b""
    except Exception as error:  # whatever it is, this one answer is all that may fail
        said = Said(Code.UNREADABLE, {"error": f"{type(error).__name__}: {error}"})
        return {"error": error_out(CannotSee(said))}, b""


def _unknown(_access: AttemptAccess, asked: Asked) -> Answer:
    raise Unsupported(Said(Code.UNKNOWN_VERB, {"verb": str(asked.get("verb"))[:80]}))


def _observe(access: AttemptAccess, _asked: Asked) -> Answer:
    return {}, encode_observation(access.observe())


def _logs(access: AttemptAccess, asked: Asked) -> Answer:
    chunk = access.logs(int(asked["offset"]), min(int(asked["limit"]), frames.MAX_BODY))
    head = {"offset": chunk.offset, "next_offset": chunk.next_offset, "complete": chunk.complete}
    return {**head, "times": chunk.times, "size": chunk.size}, chunk.data


def _metrics(access: AttemptAccess, asked: Asked) -> Answer:
    """The oldest of them; whoever wants more asks again, since the last of these."""
    found = access.metrics(float(asked["since_s"]))
    return {"more": len(found) > MAX_SAMPLES}, json.dumps([asdict(usage) for usage in found[:MAX_SAMPLES]]).encode()


def _listens(access: AttemptAccess, asked: Asked) -> Answer:
    return {"listens": access.listens(int(asked["port"]))}, b""


def _tell(access: AttemptAccess, asked: Asked) -> Answer:
    notice = asked["notice"]
    access.tell(None if notice is None else Notice(**notice))
    return {}, b""


def _stop(access: AttemptAccess, asked: Asked) -> Answer:
    access.stop(float(asked["grace_s"]))
    return {}, b""


def _begin(access: OnlyWay, asked: Asked) -> Answer:
    access.begin([str(address) for address in asked["members"]])
    return {}, b""


def _fail(access: OnlyWay, asked: Asked) -> Answer:
    access.fail(Said.from_json(asked["said"]))
    return {}, b""


_VERBS: Mapping[str, Callable[[AttemptAccess, Asked], Answer]] = {
    "observe": _observe,
    "logs": _logs,
    "metrics": _metrics,
    "listens": _listens,
    "tell": _tell,
    "stop": _stop,
}
