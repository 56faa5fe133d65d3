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
# What ends in a failure is waited for as long as a busy machine may need: longer than Channels' own second.
PATIENCE_S = 60.0


class Socket(WebsocketCommunicator):
    """A connection whose waits are generous unless a test says how long."""

    async def connect(self, timeout: float = PATIENCE_S) -> tuple[bool, Any]:
        answer: tuple[bool, Any] = await super().connect(timeout)
        return answer

    async def receive_output(self, timeout: float = PATIENCE_S) -> dict[str, Any]:
        message: dict[str, Any] = await super().receive_output(timeout)
        return message

    async def receive_json_from(self, timeout: float = PATIENCE_S) -> Any:
        return await super().receive_json_from(timeout)

    async def disconnect(self, code: int = 1000, timeout: float = PATIENCE_S) -> None:
        await super().disconnect(code, timeout)

    async def subscribe(self, *groups: str, **message: Any) -> list[dict[str, Any]]:
        """Join `groups` on the live connection and wait until that is done; returns what was said meanwhile.

        Messages are taken in their order, so the answer to one without a sense says that those before were acted upon.
        """
        await self.send_json_to({"subscribe": list(groups), **message})
        await self.send_json_to({})
        said: list[dict[str, Any]] = []
        while (answer := await self.receive_json_from()).get("code") != "bad_message":
            said.append(answer)
        return said


async def browser_of(user: User | None) -> Client:
    return Client() if user is None else await sync_to_async(signed_in)(user)


def socket_of(client: Client, path: str, *, origin: str | None = f"http://{HOST}") -> Socket:
    """A connection with this browser's cookies; not opened yet."""
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    headers = [(b"host", HOST.encode())]
    headers += [(b"origin", origin.encode())] if origin is not None else []
    headers += [(b"cookie", f"{cookie.key}={cookie.value}".encode())] if cookie else []
    communicator = Socket(application, path, headers)
    communicator.scope.update(scheme="ws", client=("192.0.2.9", 50000), server=("localhost", 8600))
    return communicator


async def opened(client: Client, path: str) -> Socket:
    socket = socket_of(client, path)
    assert (await socket.connect())[0]
    return socket


async def closed_with(socket: WebsocketCommunicator, timeout: float = PATIENCE_S) -> int:
    """The code that the server closes with, whatever it still says before."""
    while True:
        message: dict[str, Any] = await asyncio.wait_for(socket.receive_output(timeout), timeout)
        if message["type"] == "websocket.close":
            return int(message.get("code", 1000))
