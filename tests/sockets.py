"""Browsers' WebSockets to the portal, through all that stands before a consumer, the session's cookie included."""

import asyncio
from typing import Any

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client

from apps.tenants.models import User
from plstack.asgi import application
from tests.builders import signed_in

HOST = "localhost:8600"


async def browser_of(user: User | None) -> Client:
    return Client() if user is None else await sync_to_async(signed_in)(user)


def socket_of(client: Client, path: str, *, origin: str | None = f"http://{HOST}") -> WebsocketCommunicator:
    """A connection with this browser's cookies; not opened yet."""
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    headers = [(b"host", HOST.encode())]
    headers += [(b"origin", origin.encode())] if origin is not None else []
    headers += [(b"cookie", f"{cookie.key}={cookie.value}".encode())] if cookie else []
    communicator = WebsocketCommunicator(application, path, headers)
    communicator.scope.update(scheme="ws", client=("192.0.2.9", 50000), server=("localhost", 8600))
    return communicator


async def opened(client: Client, path: str) -> WebsocketCommunicator:
    socket = socket_of(client, path)
    assert (await socket.connect())[0]
    return socket


async def closed_with(socket: WebsocketCommunicator, timeout: float = 10) -> int:
    """The code that the server closes with, whatever it still says before."""
    while True:
        message: dict[str, Any] = await asyncio.wait_for(socket.receive_output(timeout), timeout)
        if message["type"] == "websocket.close":
            return int(message.get("code", 1000))
