"""What the door does with a request, against replicas that are small servers of the test's own."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpcore
import pytest
import redis
from django.conf import LazySettings

from apps.serving.door.admitting import Caller, Callers, Limits
from apps.serving.door.application import ServiceDoor
from apps.serving.door.routes import Replica, Route, Routes
from apps.workloads.drivers.sockets import Endpoint

LABEL = "digits-0123456789"
KEY = "plsv_good"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def nobody(*_anything: Any) -> None:
    raise AssertionError("passed to the gateway")


@pytest.fixture(autouse=True)
def domain(settings: LazySettings) -> None:
    settings.GATEWAY_ORIGIN = "https://apps.example.com"


def door(route: Route | None, caller: Caller | None = None) -> ServiceDoor:
    async def find(label: str) -> Route | None:
        return route if label == LABEL else None

    async def admit(_service_id: UUID, _digest: str) -> Caller | None:
        return caller

    return ServiceDoor(nobody, Routes(find), Callers(admit))


def route(*replicas: Replica, **changes: Any) -> Route:
    plain = {"is_started": True, "timeout_s": 1.0, "body_limit": 1000, "repeatable": True, "replicas": replicas}
    return Route(uuid4(), uuid4(), LABEL, ("https://page.example",), **{**plain, **changes})


CALLER = Caller(uuid4(), None, None)


async def ask(
    at: ServiceDoor,
    *,
    method: str = "POST",
    body: bytes = b"{}",
    headers: dict[str, str] | None = None,
    key: str = KEY,
    label: str = LABEL,
    path: str = "/predict",
    hear: Callable[[bytes], object] = bool,
) -> tuple[int, dict[str, str], bytes]:
    """One request, as a server would pass it."""
    sent = {"host": f"{label}.apps.example.com", "content-length": str(len(body)), **(headers or {})}
    sent |= {"authorization": f"Bearer {key}"} if key else {}
    incoming = [(name.encode(), value.encode()) for name, value in sent.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": incoming}
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
    told: list[Any] = []

    async def receive() -> Any:
        if messages:
            return messages.pop(0)
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        told.append(message)
        if message.get("body"):
            hear(message["body"])

    async with asyncio.timeout(20):
        await at(scope, receive, send)
    start = told[0]
    names = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], names, b"".join(each.get("body", b"") for each in told[1:])


@asynccontextmanager
async def replica(tmp_path: Path, serve: Serve) -> AsyncIterator[Replica]:
    path = str(tmp_path / f"{uuid4().hex[:8]}.sock")
    server = await asyncio.start_unix_server(serve, path)
    try:
        yield Replica(uuid4(), Endpoint(socket_path=path))
    finally:
        server.close()


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length")), 0)
    return head, await reader.readexactly(length)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head, body = await read_request(reader)
    text = json.dumps({"head": head, "body": body.decode()}).encode()
    more = b"set-cookie: plstack_app=1\r\naccess-control-allow-origin: *\r\nconnection: close\r\n"
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n%s\r\n" % (len(text), more) + text)
    writer.close()


async def dies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """It has read the request, and says nothing."""
    await read_request(reader)
    writer.close()


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    await asyncio.sleep(30)


async def test_the_replica_hears_neither_the_key_nor_a_cookie_and_sets_none(tmp_path: Path) -> None:
    async with replica(tmp_path, echo) as one:
        sent = {"cookie": "plstack_app=secret; own=1", "x-forwarded-for": "10.0.0.1", "origin": "https://page.example"}
        status, names, body = await ask(door(route(one), CALLER), headers=sent)
    head = json.loads(body)["head"]
    assert status == 200
    for never in ("plsv_", "cookie", "x-forwarded-for"):
        assert never not in head
    assert f"x-request-id: {names['x-request-id']}" in head
    assert "set-cookie" not in names
    assert names["access-control-allow-origin"] == "https://page.example"


@pytest.mark.parametrize("repeatable", [True, False])
async def test_what_a_dying_replica_had_goes_to_another_one_only_where_it_may(tmp_path: Path, repeatable: bool) -> None:
    async with replica(tmp_path, dies) as bad, replica(tmp_path, echo) as good:
        at = door(route(bad, good, repeatable=repeatable), CALLER)
        at.relay.balance._in_flight[good.attempt_id] = 1  # so that the other one is chosen
        status, _names, _body = await ask(at, body=b'{"x": 1}')
    assert status == (200 if repeatable else 502)


@pytest.mark.parametrize("repeatable", [True, False])
async def test_a_replica_that_closes_what_it_kept_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeatable: bool
) -> None:
    """The only one there is, by a new connection; but nothing that must not be sent twice."""
    monkeypatch.setattr(httpcore.AsyncHTTPConnection, "has_expired", lambda self: False)

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    async with replica(tmp_path, once) as one:
        at = door(route(one, repeatable=repeatable), CALLER)
        statuses = []
        for _number in range(4):
            statuses.append((await ask(at))[0])
            await asyncio.sleep(0.02)
    assert statuses == ([200] * 4 if repeatable else [200, 502, 200, 502])


async def test_a_refused_connection_costs_nobody_a_request(tmp_path: Path) -> None:
    gone = Replica(uuid4(), Endpoint(socket_path=str(tmp_path / "none.sock")))
    async with replica(tmp_path, echo) as good:
        at = door(route(gone, good, repeatable=False), CALLER)
        at.relay.balance._in_flight[good.attempt_id] = 1
        assert (await ask(at, body=b"kept"))[0] == 200
        assert at.relay.balance.choose([gone, good]) == good, "it is left alone for a while"


REFUSED: list[tuple[int, str, dict[str, Any]]] = [
    (401, "key_required", {"key": ""}),
    (401, "key_required", {"key": "pls_of_the_platform"}),
    (413, "body_too_large", {"body": b"x" * 1001}),
    (413, "body_too_large", {"body": b"x" * 1001, "headers": {"content-length": "1"}}),
]


@pytest.mark.parametrize(("status", "code", "asked"), REFUSED)
async def test_refusals_say_why(tmp_path: Path, status: int, code: str, asked: dict[str, Any]) -> None:
    async with replica(tmp_path, echo) as one:
        found, names, body = await ask(door(route(one), CALLER), **asked)
    told = json.loads(body)["error"]
    assert (found, told["code"]) == (status, code)
    assert told["request_id"] == names["x-request-id"]


async def test_an_unknown_key_a_stopped_service_and_a_silent_replica_each_have_their_word(tmp_path: Path) -> None:
    async with replica(tmp_path, silent) as one:
        cases = [
            (door(route(one)), 401, "key_refused"),
            (door(None), 404, "no_such_service"),
            (door(route(is_started=False), CALLER), 503, "stopped"),
            (door(route(one, timeout_s=0.2), CALLER), 504, "replica_silent"),
        ]
        for at, status, code in cases:
            found, names, body = await ask(at, headers={"accept-language": "zh-CN"})
            assert (found, json.loads(body)["error"]["code"]) == (status, code)
            assert "no-store" in names["cache-control"]


async def test_a_page_that_is_not_named_may_not_read_the_answer(tmp_path: Path) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    at = door(route())
    for origin, wanted in (("https://page.example", "https://page.example"), ("https://other.example", None)):
        status, names, _body = await ask(at, method="OPTIONS", key="", headers={"origin": origin, **asked})
        assert (status, names.get("access-control-allow-origin")) == (204, wanted)


async def test_a_limit_counts_for_all_processes_together_and_without_redis_all_pass(settings: LazySettings) -> None:
    caller = Caller(uuid4(), 3, None)
    first, second = Limits(), Limits()
    try:
        waits = [await each.wait_ms(caller) for each in (first, second, first, second)]
    finally:
        await first.close()
        await second.close()
    assert waits[:3] == [0, 0, 0]
    assert 0 < waits[3] <= 20_000
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert await Limits().wait_ms(caller) == 0
    assert issubclass(redis.ConnectionError, redis.RedisError)
