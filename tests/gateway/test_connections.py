"""Connections to workloads: taken again, never by two at a time, closed when of no use, and so many at most."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpcore
import pytest

from apps.workloads.gateway import upstream
from apps.workloads.gateway.upstream import Connections


@dataclass(slots=True)
class Program:
    """A server that answers `/slow` after a moment, breaks off at `/broken`, and closes after `/last`."""

    port: int = 0
    accepted: int = 0
    open: int = 0
    at_once: Counter[int] = field(default_factory=Counter)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self.open += 1
        number = self.accepted
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.at_once[number] += 1
                path = head.split()[1]
                if path == b"/broken":
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
                    break
                await asyncio.sleep(0.05 if path == b"/slow" else 0)
                assert self.at_once[number] == 1, "two requests on one connection"
                self.at_once[number] -= 1
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                if path == b"/last":
                    break
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def running() -> AsyncIterator[Program]:
    program = Program()
    server = await asyncio.start_server(program.serve, "127.0.0.1", 0)
    program.port = server.sockets[0].getsockname()[1]
    try:
        yield program
    finally:
        server.close()


async def ask(connections: Connections, port: int, path: str = "/") -> bytes:
    url = httpcore.URL(scheme=b"http", host=b"127.0.0.1", port=port, target=path.encode())
    request = httpcore.Request("GET", url, headers=[(b"host", b"program")], extensions={"timeout": upstream.TIMEOUTS})
    response = await connections.handle_async_request(request)
    try:
        return b"".join([chunk async for chunk in response.aiter_stream()])
    finally:
        await response.aclose()


async def until(condition: object) -> None:
    async with asyncio.timeout(10):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0.01)


async def test_one_after_the_other_takes_the_same_and_many_at_once_each_their_own() -> None:
    async with running() as program:
        connections = Connections()
        for _number in range(5):
            assert await ask(connections, program.port) == b"ok"
        assert program.accepted == 1
        assert await asyncio.gather(*(ask(connections, program.port, "/slow") for _number in range(20))) == [b"ok"] * 20
        assert program.accepted == 20
        await asyncio.gather(*(ask(connections, program.port, "/slow") for _number in range(20)))
        assert program.accepted == 20, "taken again"
        await connections.aclose()
        await until(lambda: program.open == 0)


async def test_one_that_the_program_closed_or_broke_is_not_taken_again() -> None:
    async with running() as program:
        connections = Connections()
        assert await ask(connections, program.port, "/last") == b"ok"
        await asyncio.sleep(0.05)
        assert await ask(connections, program.port) == b"ok"
        assert program.accepted == 2
        with pytest.raises(httpcore.RemoteProtocolError):
            await ask(connections, program.port, "/broken")
        assert await ask(connections, program.port) == b"ok"
        assert program.accepted == 3


async def test_one_that_breaks_as_it_is_taken_again_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been closed already is seen; what is closed at the very moment is not."""
    monkeypatch.setattr(httpcore.AsyncHTTPConnection, "has_expired", lambda self: False)
    async with running() as program:
        connections = Connections()
        for path in ("/last", "/last"):
            assert await ask(connections, program.port, path) == b"ok"
            await asyncio.sleep(0.05)
            with pytest.raises(upstream.Stale):
                await ask(connections, program.port)
        assert await ask(connections, program.port) == b"ok"


async def test_who_leaves_in_the_middle_leaves_nothing_open_and_no_place_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "MOST_OPEN", 3)
    async with running() as program:
        connections = Connections()
        for moment in (0.0, 0.001, 0.01, 0.03):
            tasks = [asyncio.create_task(ask(connections, program.port, "/slow")) for _number in range(6)]
            await asyncio.sleep(moment)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        answers = await asyncio.gather(*(ask(connections, program.port, "/slow") for _number in range(9)))
        assert answers == [b"ok"] * 9
        await connections.aclose()
        await until(lambda: program.open == 0)


async def test_beyond_the_most_one_waits_and_is_told_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "MOST_OPEN", 1)
    monkeypatch.setattr(upstream, "CONNECT_S", 0.02)
    async with running() as program:
        connections = Connections()
        first = asyncio.create_task(ask(connections, program.port, "/slow"))
        await asyncio.sleep(0.01)
        with pytest.raises(httpcore.PoolTimeout):
            await ask(connections, program.port)
        assert await first == b"ok"
        assert await ask(connections, program.port) == b"ok"


async def test_what_nobody_uses_any_more_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "IDLE_S", 0.05)
    monkeypatch.setattr(upstream, "MOST_IDLE", 4)
    async with running() as program, running() as other:
        connections = Connections()
        await asyncio.gather(*(ask(connections, program.port, "/slow") for _number in range(10)))
        await until(lambda: program.open == 4)
        await asyncio.sleep(1.1)
        await ask(connections, other.port)
        await until(lambda: program.open == 0)


async def test_a_port_on_which_nobody_listens_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "MOST_OPEN", 1)
    async with running() as program:
        connections = Connections()
        for _number in range(3):
            with pytest.raises(httpcore.ConnectError):
                await ask(connections, 1)
        assert await ask(connections, program.port) == b"ok"
