"""The streams of a channel that have become ports: all in one thread, however many there are. Standard library only."""

import os
import selectors
import socket
import threading
from collections import deque
from contextlib import suppress
from functools import partial

from apps.workloads.drivers.channel.relay import Stream


class Relays:
    """Pairs of sockets with the bytes between them, at most `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._waiting: deque[tuple[socket.socket, socket.socket]] = deque()
        self._wakeup: int | None = None
        self._is_closed = False

    @property
    def is_full(self) -> bool:
        return len(self._pairs) >= self._limit

    def add(self, near: socket.socket, far: socket.socket) -> None:
        """Both are closed once both directions have ended, or one side has broken."""
        for each in (near, far):
            each.setblocking(False)
        with self._lock:
            self._pairs.add((near, far))
            self._waiting.append((near, far))
            if self._wakeup is None:
                awake, self._wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
                threading.Thread(target=self._run, args=(awake,), name="channel ports", daemon=True).start()
        self._wake()
        if self._is_closed:
            self._end()

    def close(self) -> None:
        self._is_closed = True
        self._wake()
        self._end()

    def _end(self) -> None:
        """Ends the streams; the thread, which may be in the middle of one, is the one to close them."""
        with self._lock:
            for pair in self._pairs:
                for each in pair:
                    with suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)

    def _wake(self) -> None:
        if self._wakeup is not None:
            with suppress(BlockingIOError):  # full of reasons to wake up
                os.write(self._wakeup, b"1")

    def _run(self, awake: int) -> None:
        selector = selectors.DefaultSelector()
        selector.register(awake, selectors.EVENT_READ, lambda _events: self._welcome(selector, awake))
        while not (self._is_closed and not self._pairs):
            for key, events in selector.select():
                key.data(events)

    def _welcome(self, selector: selectors.BaseSelector, awake: int) -> None:
        with suppress(BlockingIOError):
            os.read(awake, 4096)
        while self._waiting:
            near, far = pair = self._waiting.popleft()
            Stream(selector, near, far, partial(self._closed, pair))

    def _closed(self, pair: tuple[socket.socket, socket.socket]) -> None:
        with self._lock:
            self._pairs.discard(pair)
