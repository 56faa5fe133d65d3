"""The web process' threads: few connections however many requests, no broken one used, and an answer where all wait."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator, Mapping
from threading import Event
from types import MappingProxyType
from typing import Any

import pytest
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from plstack.requests import RequestHandler

SCOPE = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}


class Backends(RequestHandler):
    """Answers with the number of the connection's process at the server."""

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return HttpResponse(str(cursor.fetchone()[0]))


class Blocked(RequestHandler):
    """Answers once `go` is set."""

    go: Event

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        assert self.go.wait(60)
        return HttpResponse("done")


async def ask(
    handler: RequestHandler, path: str = "/", headers: Mapping[str, str] = MappingProxyType({})
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of a request without a body, of a client that stays for the answer."""
    told = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    gone, sent = asyncio.Event(), list[dict[str, Any]]()
    messages = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        if not messages:
            await gone.wait()
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await handler({**SCOPE, "path": path, "headers": told}, receive, send)
    found = {name.lower(): value for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.fixture
def backends() -> Iterator[Backends]:
    handler = Backends(threads=1)
    yield handler
    handler.threads.submit(connections.close_all).result(60)


@pytest.mark.django_db(transaction=True)
def test_requests_share_the_connections_of_their_threads(backends: Backends) -> None:
    async def crowd() -> set[bytes]:
        return {body for _status, _headers, body in await asyncio.gather(*(ask(backends) for _number in range(8)))}

    assert len(asyncio.run(crowd()) | asyncio.run(crowd())) == 1


def cut() -> None:
    """The way to the server, as where the server has ended."""
    with socket.socket(fileno=os.dup(connection.connection.fileno())) as way:
        way.shutdown(socket.SHUT_RDWR)


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ended_is_replaced(backends: Backends) -> None:
    before = asyncio.run(ask(backends))[2]
    backends.threads.submit(cut).result(60)
    status, _headers, after = asyncio.run(ask(backends))
    assert status == 200
    assert after != before


def test_who_comes_when_too_many_wait_is_told_to_come_again() -> None:
    handler = Blocked(threads=1, most_waiting=1)
    handler.go = Event()

    async def crowd() -> None:
        first = [asyncio.create_task(ask(handler)) for _number in range(2)]
        async with asyncio.timeout(60):
            while not handler.threads.waiting:
                await asyncio.sleep(0.01)
        status, headers, _body = await ask(handler)
        assert (status, headers[b"retry-after"]) == (503, b"2")
        handler.go.set()
        assert [status for status, _headers, _body in await asyncio.gather(*first)] == [200, 200]
        assert (await ask(handler))[0] == 200
        assert handler.threads.waiting == 0

    asyncio.run(crowd())


@pytest.mark.parametrize(
    ("headers", "language", "words"),
    [
        ({}, "en", "Too many requests at once"),
        ({"Accept-Language": "zh-CN,zh;q=0.9"}, "zh-hans", "同时到来的请求太多"),
        ({"Accept-Language": "zh-CN", "Cookie": "plstack_language=en"}, "en", "Too many requests at once"),
        ({"Cookie": "plstack_language=zh-hans"}, "zh-hans", "同时到来的请求太多"),
    ],
)
def test_who_is_turned_away_reads_it_in_their_language(headers: dict[str, str], language: str, words: str) -> None:
    """Without a mark for the database: a query would fail here."""
    handler = RequestHandler(threads=1, most_waiting=0)
    status, told, body = asyncio.run(ask(handler, "/training/", headers))
    page = body.decode()
    assert (status, told[b"retry-after"], told[b"content-language"].decode()) == (503, b"2", language)
    assert f"<h1>{words}</h1>" in page
    assert f'lang="{language}"' in page
    assert "data-error-message" in page  # what the scripts of an open page show
    assert b"default-src 'self'" in told[b"content-security-policy"]

    status, told, body = asyncio.run(ask(handler, "/api/v1/me/", headers))
    problem = json.loads(body)
    assert (status, told[b"retry-after"]) == (503, b"2")
    assert told[b"content-type"] == b"application/problem+json"
    assert (problem["status"], problem["code"], problem["detail"]) == (503, "unavailable", words)
    assert set(problem) == {"type", "title", "status", "code", "detail", "hint", "fields"}


def test_waiting_clients_that_leave_are_not_counted() -> None:
    handler = Blocked(threads=1, most_waiting=5)
    handler.go = Event()

    async def crowd() -> None:
        first, second = (asyncio.create_task(ask(handler)) for _number in range(2))
        async with asyncio.timeout(60):
            while not handler.threads.waiting:
                await asyncio.sleep(0.01)
        for client in (first, second):
            client.cancel()
        await asyncio.sleep(0.1)
        handler.go.set()
        await asyncio.wait([first, second])
        assert (await ask(handler))[0] == 200
        assert handler.threads.waiting == 0

    asyncio.run(crowd())
