"""The registry goes away in the middle of a question: during a collection it is asked again, else it is said."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.registry.distribution import pushes
from apps.registry.distribution.proxy import RegistryProxy

PATH = "/v2/a/b/blobs/uploads/1"
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def asked(
    method: str,
    path: Path,
    *,
    cut: int,
    content: bytes = b"",
    heard_one: Callable[[], None] = lambda: None,
    named: Sequence[tuple[bytes, bytes]] = ((b"host", b"registry.test"),),
) -> int:
    """The status that a client gets when the registry hears the first `cut` requests and ends without an answer."""
    heard, sent = 0, list[dict[str, Any]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        await reader.readuntil(b"\r\n\r\n")
        heard += 1
        heard_one()
        if heard > cut:
            writer.write(ANSWER)
            await writer.drain()
        writer.close()

    async def receive() -> dict[str, Any]:
        if body := body_left.pop() if body_left else b"":
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    body_left = [content] if content else []
    headers = [*named, *((b"content-length", b"%d" % len(content)) for _one in body_left)]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": PATH, "raw_path": PATH.encode()}
    scope |= {"query_string": b"", "headers": headers}
    server = await asyncio.start_unix_server(serve, path)
    async with server:
        with ThreadPoolExecutor(1) as threads:
            await RegistryProxy(None, threads)(scope, receive, send)
    return int(sent[0]["status"])


@pytest.fixture
def socket(tmp_path: Path, settings: LazySettings) -> Path:
    settings.REGISTRY_SOCKET = str(tmp_path / "registry.sock")
    settings.PLSTACK_HOME = str(tmp_path)
    return tmp_path / "registry.sock"


def collecting(socket: Path) -> Path:
    """The file that says that a collection is on."""
    marker = socket.with_name(socket.name + pushes.COLLECTING)
    marker.touch()
    return marker


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_question_is_asked_again_while_a_collection_is_on(socket: Path, method: str) -> None:
    collecting(socket)
    assert await asked(method, socket, cut=2) == 200


async def test_a_question_is_asked_again_when_the_collection_ends_with_the_refusal(socket: Path) -> None:
    marker = collecting(socket)
    assert await asked("GET", socket, cut=1, heard_one=lambda: marker.unlink(missing_ok=True)) == 200


async def test_without_a_collection_it_is_said_that_nobody_answers(socket: Path) -> None:
    assert await asked("GET", socket, cut=1) == 503


async def test_what_was_brought_is_not_brought_twice(socket: Path) -> None:
    collecting(socket)
    assert await asked("PATCH", socket, cut=1, content=b"half") == 503


async def test_a_request_without_a_host_is_the_fault_of_whoever_sent_it(socket: Path) -> None:
    assert await asked("GET", socket, cut=0, named=()) == 400
