"""The one way out of git's sandbox: a proxy that leads to a single host, whose address was checked and pinned.

A name that resolves differently a moment later gains nothing, and neither does a redirect to elsewhere: there is no
connection to any other host, whoever asks for it.
"""

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from apps.workloads.drivers.channel.relay import Stream
from apps.workloads.drivers.sockets import short_address
from apps.workloads.gateway.egress import Way
from apps.workloads.gateway.ways import connected, read_head, shown_host

HEAD_S, CONNECT_S = 10.0, 10.0
OPENED = b"HTTP/1.1 200 Connection established\r\n\r\n"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
UNREACHABLE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(slots=True)
class Tunnel:
    """`asks`: whether programs say where to, as to a proxy; otherwise each connection leads to the one host.

    `elsewhere`: hosts that were asked for and are not the one. `unreachable`: the host did not answer.
    """

    way: Way
    asks: bool = True
    elsewhere: list[str] = field(default_factory=list)
    unreachable: bool = False
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _streams: list[Stream] = field(default_factory=list)
    _over: bool = False

    def serve(self, listener: socket.socket, ended: socket.socket) -> None:
        """Until `ended` can be read."""
        self._selector.register(listener, selectors.EVENT_READ, lambda _events: self._accept(listener))
        self._selector.register(ended, selectors.EVENT_READ, lambda _events: self._end())
        while not self._over:
            for key, events in self._selector.select():
                key.data(events)
        for stream in self._streams:
            if stream.is_open:
                stream.close()
        self._selector.close()

    def _end(self) -> None:
        self._over = True

    def _accept(self, listener: socket.socket) -> None:
        near, _address = listener.accept()
        near.settimeout(HEAD_S)
        try:
            far = self._dial(near)
        except OSError:
            near.close()
            return
        for each in (near, far):
            each.setblocking(False)
        self._streams.append(Stream(self._selector, near, far, lambda: None))

    def _dial(self, near: socket.socket) -> socket.socket:
        """The other end, after telling `near` so. Raises OSError, after telling why."""
        if not self.asks:
            return self._connected()
        head = read_head(near)
        if not head:
            raise ConnectionAbortedError
        line = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        target = self.way.target
        if line[:-1] != ["CONNECT", f"{shown_host(target.host)}:{target.port}"]:
            self.elsewhere.append(line[1] if len(line) > 1 else "")
            near.sendall(REFUSED)
            raise ConnectionRefusedError
        try:
            far = self._connected()
        except OSError:
            near.sendall(UNREACHABLE)
            raise
        near.sendall(OPENED)
        return far

    def _connected(self) -> socket.socket:
        try:
            return connected(self.way, CONNECT_S)
        except OSError:
            self.unreachable = True
            raise


@contextmanager
def tunnel(way: Way, path: Path, *, asks: bool = True) -> Iterator[Tunnel]:
    """Listens at `path`, for every user id, until the block ends; then all its connections end."""
    opened = Tunnel(way, asks)
    here, there = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as listener, here, there:
        with short_address(path) as address:
            listener.bind(address)
        path.chmod(0o666)
        listener.listen(16)
        thread = threading.Thread(target=opened.serve, args=(listener, there), name="git-tunnel", daemon=True)
        thread.start()
        try:
            yield opened
        finally:
            with suppress(OSError):
                here.send(b"\0")
            thread.join()
            path.unlink(missing_ok=True)
