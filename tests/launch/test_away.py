"""What people and programs are told while the database or Redis is away: come again, never that something broke."""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connections
from django.urls import URLPattern, URLResolver, get_resolver
from redis.exceptions import ConnectionError as RedisGone

from plstack.away import OutageFilter, is_away
from plstack.requests import RequestHandler
from plstack.unavailable import TRY_AGAIN_LATER, RetryLaterSockets
from tests.launch.test_requests import ask
from tests.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)
SESSION = {"Cookie": "plstack_session=abcdefghijklmnopqrstuvwxyz012345", "Accept": "text/html"}

HOST = connections.settings["default"]["HOST"]


@pytest.fixture
def handler(settings: LazySettings) -> Iterator[RequestHandler]:
    """The site as it is, in threads whose connections lead nowhere."""
    site = RequestHandler(threads=2)
    connections.settings["default"]["HOST"] = "/nonexistent"
    yield site
    connections.settings["default"]["HOST"] = HOST
    for _ in range(4):
        site.threads.submit(connections.close_all).result(60)


def plain_routes(patterns: list[Any], prefix: str = "/") -> Iterator[str]:
    """All addresses that need no id."""
    for pattern in patterns:
        route = str(pattern.pattern)
        if "<" in route or "(" in route:
            continue
        address = prefix + route.strip("^$").replace("\\Z", "")
        if isinstance(pattern, URLResolver):
            yield from plain_routes(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern):
            yield address


def test_every_address_says_503_or_needs_no_database(handler: RequestHandler) -> None:
    paths = sorted(set(plain_routes(get_resolver().url_patterns)))
    assert len(paths) > 150
    broken, away = list[tuple[str, int]](), 0
    for path in paths:
        status, headers, body = asyncio.run(ask(handler, path, SESSION))
        away += status == 503
        api = path.startswith("/api/")
        if status == 503 and path != "/healthz":
            assert headers[b"retry-after"] == b"2", path
            assert headers[b"content-type"].startswith(b"application/problem+json" if api else b"text/html"), path
            assert not api or json.loads(body)["code"] == "unavailable"
        elif status >= 500 and path != "/healthz":
            broken.append((path, status))
    assert broken == []
    assert away > 150


@pytest.mark.parametrize(("language", "shown"), [("en", "en"), ("zh-CN", "zh-hans")])
def test_the_page_is_in_the_readers_language(handler: RequestHandler, language: str, shown: str) -> None:
    status, headers, body = asyncio.run(ask(handler, "/", {**SESSION, "Accept-Language": language}))
    assert (status, headers[b"cache-control"]) == (503, b"no-store")
    assert f'<html lang="{shown}"' in body.decode()
    assert b"default-src 'self'" in headers[b"content-security-policy"]


def test_a_token_that_cannot_be_looked_up_is_not_refused(handler: RequestHandler) -> None:
    status, headers, body = asyncio.run(ask(handler, "/api/v1/me/", {"Authorization": "Bearer plst_" + "a" * 40}))
    problem = json.loads(body)
    assert (status, headers[b"retry-after"], problem["code"]) == (503, b"2", "unavailable")
    assert set(problem) == {"type", "title", "status", "code", "detail", "hint", "fields"}


def test_readiness_names_what_is_away_and_liveness_does_not_ask(
    handler: RequestHandler, settings: LazySettings
) -> None:
    assert asyncio.run(ask(handler, "/livez"))[0] == 200
    status, _, body = asyncio.run(ask(handler, "/healthz"))
    assert (status, body) == (503, b"database: cannot be reached\n")
    settings.REDIS_URL = "unix:///nonexistent"
    status, _, body = asyncio.run(ask(handler, "/healthz"))
    assert (status, body) == (503, b"database: cannot be reached\nredis: cannot be reached\n")


def test_all_is_well_as_soon_as_the_database_is_back(handler: RequestHandler) -> None:
    assert asyncio.run(ask(handler, "/accounts/login/", {}))[0] == 503
    connections.settings["default"]["HOST"] = HOST
    assert asyncio.run(ask(handler, "/accounts/login/", {}))[0] == 200
    assert asyncio.run(ask(handler, "/healthz"))[0] == 200


def test_a_fault_of_the_programs_own_stays_a_fault() -> None:
    assert not is_away(ValueError("no"))
    wrapped = ValueError("while closing")
    wrapped.__context__ = OperationalError("gone")
    assert is_away(wrapped)


@pytest.mark.parametrize("error", [OperationalError("gone"), RedisGone("gone")])
@pytest.mark.parametrize("accepts", [True, False])
def test_a_websocket_ends_with_a_code_that_makes_clients_come_again(error: Exception, accepts: bool) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        if accepts:
            await send({"type": "websocket.accept"})
        raise error

    async def visit() -> Any:
        visitor = Socket(RetryLaterSockets(application), "/ws/live/")
        connected, code = await visitor.connect()
        if accepts:
            assert connected
            return (await visitor.receive_output())["code"]
        return code

    assert asyncio.run(visit()) == TRY_AGAIN_LATER


def test_a_websocket_whose_program_fails_is_a_fault() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("no")

    async def visit() -> None:
        await RetryLaterSockets(application)({"type": "websocket"}, None, None)

    with pytest.raises(ValueError, match="no"):
        asyncio.run(visit())


def test_an_outage_is_logged_in_lines_and_not_in_tracebacks() -> None:
    error = OperationalError("connection refused\nis the server running?")
    record = logging.LogRecord("django.request", logging.ERROR, "", 1, "Error: %s", ("/",), (type(error), error, None))
    assert OutageFilter().filter(record)
    assert (record.levelname, record.getMessage(), record.exc_info) == ("WARNING", "Error: /: connection refused", None)
