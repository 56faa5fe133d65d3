"""One WebSocket between a browser and a workload: text and binary, subprotocols, close codes."""

import asyncio
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.gateway import headers, hosts, upstream
from apps.workloads.gateway.hosts import Address
from apps.workloads.gateway.relay import Receive, Scope, Send, target_of

REVOKED = 4403
UNREACHABLE = 1013  # try again later
BROKEN = 1011
GOING_AWAY = 1001
# A message is held whole on its way; notebooks send their outputs as one.
LARGEST_MESSAGE = 64 * 2**20
QUEUED_MESSAGES = 4
# Of a peer that has stopped answering pings.
KEEPALIVE_S = 30.0


async def relay(
    endpoint: Endpoint,
    address: Address,
    scope: Scope,
    receive: Receive,
    send: Send,
    revoked: asyncio.Future[None],
    typed: Callable[[], None],
) -> None:
    """Connect to the workload first, then accept with what it chose; `typed` is called for each message sent to it."""
    if (await receive())["type"] != "websocket.connect":
        return
    try:
        workload = await _connect(endpoint, address, scope)
    except InvalidStatus as refusal:
        await _refuse(scope, send, refusal.response.status_code)
        return
    except (OSError, TimeoutError, WebSocketException):
        await _refuse(scope, send, 503)
        return
    try:
        await send({"type": "websocket.accept", "subprotocol": workload.subprotocol, "headers": _answered(workload)})
        await _pump(workload, receive, send, revoked, typed)
    finally:
        await workload.close()


async def _connect(endpoint: Endpoint, address: Address, scope: Scope) -> ClientConnection:
    told = headers.to_workload(list(scope["headers"]), address, websocket=True)
    connection = await asyncio.to_thread(upstream.connected_socket, endpoint)
    return await connect(
        f"ws://{hosts.netloc(address)}{target_of(scope).decode('latin-1')}",
        sock=connection,
        subprotocols=[Subprotocol(name) for name in scope.get("subprotocols", ())] or None,
        additional_headers=[
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in told
            if name not in {b"host", b"user-agent"}
        ],
        user_agent_header=headers.get(scope["headers"], b"user-agent"),
        compression=None,
        proxy=None,
        open_timeout=upstream.CONNECT_S * 2,
        ping_interval=KEEPALIVE_S,
        ping_timeout=KEEPALIVE_S,
        close_timeout=upstream.CONNECT_S,
        max_size=LARGEST_MESSAGE,
        max_queue=QUEUED_MESSAGES,
    )


def _answered(workload: ClientConnection) -> headers.Headers:
    """Of the workload's handshake only its cookies concern the browser; the rest is this connection's own."""
    response = workload.response
    raw = (
        []
        if response is None
        else [(k.encode("latin-1"), v.encode("latin-1")) for k, v in response.headers.raw_items()]
    )
    return [(name, value) for name, value in headers.to_browser(raw) if name == b"set-cookie"]


async def _refuse(scope: Scope, send: Send, status: int) -> None:
    if "websocket.http.response" in scope.get("extensions", {}):
        await send({"type": "websocket.http.response.start", "status": status, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b""})
    else:
        await send({"type": "websocket.close", "code": UNREACHABLE})


async def _pump(
    workload: ClientConnection,
    receive: Receive,
    send: Send,
    revoked: asyncio.Future[None],
    typed: Callable[[], None],
) -> None:
    up = asyncio.create_task(_to_workload(workload, receive, typed))
    down = asyncio.create_task(_to_browser(workload, send))
    try:
        done, _ = await asyncio.wait({up, down, revoked}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (up, down):
            task.cancel()
        await asyncio.gather(up, down, return_exceptions=True)
    if done == {revoked}:
        await send({"type": "websocket.close", "code": REVOKED, "reason": "access ended"})
        await workload.close(GOING_AWAY)


async def _to_workload(workload: ClientConnection, receive: Receive, typed: Callable[[], None]) -> None:
    while True:
        message: Any = await receive()
        if message["type"] == "websocket.disconnect":
            await workload.close(_sendable(message.get("code"), GOING_AWAY), message.get("reason") or "")
            return
        typed()
        try:
            text = message.get("text")
            await workload.send(text if text is not None else message["bytes"])
        except ConnectionClosed:
            return await asyncio.Future()  # the other direction tells the browser how it ended


async def _to_browser(workload: ClientConnection, send: Send) -> None:
    try:
        while True:
            data = await workload.recv()
            await send({"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data})
    except ConnectionClosed:
        code = _sendable(workload.close_code, BROKEN)
        await send({"type": "websocket.close", "code": code, "reason": workload.close_reason or ""})


def _sendable(code: int | None, otherwise: int) -> int:
    """1005 (none given) and 1006 (no close at all) say what happened here; they may not be sent (RFC 6455, 7.4)."""
    if code is None or code == 1006:
        return otherwise
    return 1000 if code == 1005 else code
