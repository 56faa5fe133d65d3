"""Connections along a checked way: to the pinned address itself, or through the operator's proxy."""

import socket
from typing import Any

from apps.workloads.gateway.egress import Way

MOST_HEAD = 16 * 1024


def connected(way: Way, timeout: Any = None, source: Any = None) -> socket.socket:
    """A socket to the target, as `socket.create_connection` makes one; raises OSError where there is none."""
    if way.proxy is None:
        return socket.create_connection((way.target.address, way.target.port), timeout, source)
    connection = socket.create_connection(way.proxy, timeout, source)
    try:
        _ask_for_tunnel(connection, way)
    except BaseException:
        connection.close()
        raise
    return connection


def shown_host(host: str) -> str:
    """As addresses name it."""
    return f"[{host}]" if ":" in host else host


def read_head(connection: socket.socket) -> bytes:
    """Of a request or an answer, with the empty line behind it; not a byte more, which is for the other side.

    Empty for one that does not end. Raises OSError as sockets do.
    """
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        if not piece or len(head) > MOST_HEAD:
            return b""
        head += piece
    return head


def _ask_for_tunnel(connection: socket.socket, way: Way) -> None:
    """By the name, which the operator's proxy resolves. Raises OSError where it refuses."""
    place = f"{shown_host(way.target.host)}:{way.target.port}"
    connection.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    head = read_head(connection)
    if not head:
        raise OSError("the proxy of the settings gives no answer that can be read")
    line = head.partition(b"\r\n")[0].decode("latin-1")
    if line.split(" ")[1:2] != ["200"]:
        raise OSError(f"the proxy of the settings refuses it: {line[:100]}")
