"""What is sent over the stream of a process inside a workload: kind (1 byte), length (4 bytes), content."""

import socket
import struct
from collections.abc import Iterator
from enum import IntEnum

_HEAD = struct.Struct(">BI")
MAX_CONTENT = 1024 * 1024


class Kind(IntEnum):
    INPUT = 0
    OUTPUT = 1
    ERROR = 2
    EXIT = 3  # JSON: the exit code, or null
    RESIZE = 4  # JSON: [rows, columns]
    INPUT_END = 5
    SIGNAL = 6  # JSON: the number
    OUTPUT_END = 7
    ERROR_END = 8
    END = 9  # the caller wants no more: the process is ended


def send(stream: socket.socket, kind: Kind, content: bytes = b"") -> None:
    """Raises OSError when the other end is gone."""
    stream.sendall(_HEAD.pack(kind, len(content)) + content)


def receive(stream: socket.socket) -> Iterator[tuple[Kind, bytes]]:
    """Frames until the stream ends, is cut, or makes no sense."""
    while head := _exactly(stream, _HEAD.size):
        kind, length = _HEAD.unpack(head)
        content = _exactly(stream, length) if length else b""
        if length > MAX_CONTENT or content is None or kind not in Kind._value2member_map_:
            return
        yield Kind(kind), content


def _exactly(stream: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        try:
            more = stream.recv(min(65536, size - len(data)))
        except OSError:
            return None
        if not more:
            return None
        data += more
    return data
