"""The WebSocket of an open page, as a browser makes it: light enough that one process has a thousand of them."""

import asyncio
import json
import secrets
import time
import zlib
from typing import Any

TEXT, BINARY, PING, PONG = 1, 2, 9, 10
SHORT = 126


class PageSocket(asyncio.Protocol):
    """One page's connection: keeps each frame with the time at which it was whole, and answers pings."""

    def __init__(self, port: int, session: str, asks: dict[str, Any]) -> None:
        self.port, self.session, self.asks = port, session, asks
        self.frames: list[tuple[float, int, bool, bytes]] = []
        self.buffer, self.open, self.closed_early, self.size = b"", asyncio.Event(), False, 0
        self.is_upgraded = self.is_hung_up = False

    def connection_made(self, transport: Any) -> None:
        self.transport: asyncio.Transport = transport
        lines = (
            "GET /ws/live/ HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Origin: http://127.0.0.1:{self.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
            "Accept-Language: en",
            f"Cookie: plstack_session={self.session}",
        )
        self.transport.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed_early |= not self.is_hung_up
        self.open.set()

    def hang_up(self) -> None:
        self.is_hung_up = True
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        self.buffer += data
        if not self.is_upgraded and b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            self.is_upgraded = True
            if b" 101 " not in head.splitlines()[0]:
                raise RuntimeError(head.decode(errors="replace"))
            self._send(TEXT, json.dumps(self.asks).encode())
            self.open.set()
        while self.is_upgraded and self._frame(now):
            pass

    def _frame(self, now: float) -> bool:
        """Takes one whole frame from the buffer, if there is one."""
        if len(self.buffer) < 2:
            return False
        length, start = self.buffer[1] & 127, 2
        if length >= SHORT:
            start += 2 if length == SHORT else 8
            length = int.from_bytes(self.buffer[2:start], "big")
        if len(self.buffer) < start + length:
            return False
        first, payload = self.buffer[0], self.buffer[start : start + length]
        self.buffer = self.buffer[start + length :]
        if first & 15 == PING:
            self._send(PONG, payload)
        else:
            self.size += start + length
            self.frames.append((now, first & 15, bool(first & 64), payload))
        return True

    def _send(self, kind: int, payload: bytes) -> None:
        mask = secrets.token_bytes(4)
        length = bytes([128 | len(payload)]) if len(payload) < SHORT else b"\xfe" + len(payload).to_bytes(2, "big")
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self.transport.write(bytes([128 | kind]) + length + mask + masked)

    def told(self) -> list[tuple[float, int, bytes]]:
        """What it was told: when, as what, and its text."""
        inflate, told = zlib.decompressobj(-15), []
        for at, kind, is_compressed, payload in self.frames:
            data = inflate.decompress(payload + b"\0\0\xff\xff") if is_compressed else payload
            told.append((at, kind, zlib.decompress(data, -15) if kind == BINARY else data))
        return told
