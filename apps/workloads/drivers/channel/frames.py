"""What is sent over a channel: frames of a JSON object and, where it carries bytes, a body. Standard library only.

    b"PL" · length of the object (u32, big endian) · length of the body (u32) · the object in UTF-8 · the body

Nothing of a frame is kept before its lengths are known to be within the limits.
"""

import json
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MAGIC = b"PL"
MAX_HEAD = 256 * 1024
MAX_BODY = 1024 * 1024
_LENGTHS = struct.Struct(">2sII")
_PIECE = 256 * 1024

Head = Mapping[str, Any]
Read = Callable[[int], bytes]
"""At most so many bytes, at least one; b"" at the end of the stream. Raises OSError."""


class Broken(ConnectionError):
    """What came is no frame, or only the beginning of one. Nothing after it can be understood."""


@dataclass(frozen=True, slots=True)
class Frame:
    head: dict[str, Any]
    body: bytes = b""


def encode(head: Head, body: bytes = b"") -> bytes:
    """Raises ValueError for what no reader would take."""
    text = json.dumps(head, separators=(",", ":")).encode()
    if len(text) > MAX_HEAD or len(body) > MAX_BODY:
        raise ValueError("The frame is too large")
    return _LENGTHS.pack(MAGIC, len(text), len(body)) + text + body


def decode(read: Read, largest: int = MAX_HEAD + MAX_BODY) -> Frame | None:
    """The next frame of at most `largest` bytes; None where the stream ends instead of one. Raises Broken.

    Takes no byte of what follows the frame.
    """
    start = _exactly(read, _LENGTHS.size, may_end=True)
    if start is None:
        return None
    magic, head_size, body_size = _LENGTHS.unpack(start)
    if magic != MAGIC or head_size > MAX_HEAD or body_size > MAX_BODY or head_size + body_size > largest:
        raise Broken("no frame")
    content = _exactly(read, head_size + body_size) or b""
    try:
        head = json.loads(content[:head_size])
    except (ValueError, RecursionError) as error:
        raise Broken("no JSON") from error
    if not isinstance(head, dict):
        raise Broken("no object")
    return Frame(head, bytes(content[head_size:]))


def _exactly(read: Read, size: int, may_end: bool = False) -> bytearray | None:
    data = bytearray()
    while len(data) < size:
        more = read(min(_PIECE, size - len(data)))
        if not more:
            if may_end and not data:
                return None
            raise Broken("the stream ended within a frame")
        data += more
    return data


def send(stream: socket.socket, head: Head, body: bytes = b"", timeout_s: float | None = None) -> None:
    """All of it within `timeout_s`. Raises OSError, after which the stream is of no further use."""
    stream.settimeout(timeout_s)
    stream.sendall(encode(head, body))


def receive(
    stream: socket.socket, timeout_s: float, idle_s: float | None = None, largest: int = MAX_HEAD + MAX_BODY
) -> Frame | None:
    """As `decode`: the first byte within `idle_s` (else `timeout_s`), all others within `timeout_s` from then on."""
    deadline: float | None = None

    def read(size: int) -> bytes:
        nonlocal deadline
        left = (timeout_s if idle_s is None else idle_s) if deadline is None else deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("The frame was not sent in time")
        stream.settimeout(left)
        data = stream.recv(size)
        if deadline is None:
            deadline = time.monotonic() + timeout_s
        return data

    return decode(read, largest)
