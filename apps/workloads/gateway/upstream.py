"""Connections to workloads."""

import os
import socket
from collections.abc import Iterable

import httpcore

from apps.workloads.drivers.sockets import Endpoint, connected, pinned

CONNECT_S = 5.0
# How long either side may be silent in the middle of a request, a cell that computes included.
SILENCE_S = 600.0
TIMEOUTS = {"connect": CONNECT_S, "pool": CONNECT_S, "read": SILENCE_S, "write": SILENCE_S}
UNIX = "unix-"


def authority(endpoint: Endpoint) -> tuple[bytes, int]:
    """The endpoint as a host and port for the pool, which keeps connections apart by them."""
    if endpoint.socket_path is not None:
        return f"{UNIX}{os.fsencode(endpoint.socket_path).hex()}".encode(), 80
    return (endpoint.host or "").encode(), endpoint.port or 80


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        if not host.startswith(UNIX):
            return await self._sockets.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            with pinned(os.fsdecode(bytes.fromhex(host.removeprefix(UNIX)))) as path:
                return await self._sockets.connect_unix_socket(path, timeout)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


def pool() -> httpcore.AsyncConnectionPool:
    """Connections to all workloads; kept open for a moment, since pages come in bursts of requests."""
    return httpcore.AsyncConnectionPool(
        max_connections=2000, max_keepalive_connections=100, keepalive_expiry=4.0, network_backend=_Backend()
    )


def connected_socket(endpoint: Endpoint) -> socket.socket:
    """A connected socket for a WebSocket; blocks for at most CONNECT_S. Raises OSError."""
    return connected(endpoint, CONNECT_S)
