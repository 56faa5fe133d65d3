"""The web process' threads: few connections however many requests, no broken one used, and an answer where all wait."""

import asyncio
import os
import socket
from collections.abc import Iterator
from threading import Event
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
        assert self.go.wait(30)
        return HttpResponse("done")


async def ask(handler: RequestHandler) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of a request without a body, of a client that stays for the answer."""
    gone, sent = asyncio.Event(), list[dict[str, Any]]()
    messages = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        if not messages:
            await gone.wait()
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await handler(SCOPE, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:])


@pytest.fixture
def backends() -> Iterator[Backends]:
    handler = Backends(threads=1)
    yield handler
    handler.threads.submit(connections.close_all).result(10)


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
    backends.threads.submit(cut).result(10)
    status, _headers, after = asyncio.run(ask(backends))
    assert status == 200
    assert after != before


def test_who_comes_when_too_many_wait_is_told_to_come_again() -> None:
    handler = Blocked(threads=1, most_waiting=1)
    handler.go = Event()

    async def crowd() -> None:
        first = [asyncio.create_task(ask(handler)) for _number in range(2)]
        async with asyncio.timeout(30):
            while not handler.threads.waiting:
                await asyncio.sleep(0.01)
        status, headers, _body = await ask(handler)
        assert (status, headers[b"retry-after"]) == (503, b"2")
        handler.go.set()
        assert [status for status, _headers, _body in await asyncio.gather(*first)] == [200, 200]
        assert (await ask(handler))[0] == 200
        assert handler.threads.waiting == 0

    asyncio.run(crowd())


def test_waiting_clients_that_leave_are_not_counted() -> None:
    handler = Blocked(threads=1, most_waiting=5)
    handler.go = Event()

    async def crowd() -> None:
        first, second = (asyncio.create_task(ask(handler)) for _number in range(2))
        async with asyncio.timeout(30):
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
