"""The HTTP proxy behind workloads' way out: CONNECT for TLS, absolute addresses for plain HTTP, on a Unix socket.

Sandboxes have no network; each carries its programs' connections to this socket (`nodes.egress_sockets`).
"""

import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from apps.common.errors import Invalid
from apps.workloads.drivers.sockets import short_address
from apps.workloads.gateway.egress import Leads, Way

log = logging.getLogger(__name__)

ALLOWING = "Operators allow hosts with PLSTACK_EGRESS_ALLOW, and package indexes in the settings (Software sources)."
HEAD_BYTES = 64 * 1024
HEAD_S = 30.0
CONNECT_S = 15.0
SILENCE_S = 900.0
REST_S = 10.0
CHUNK = 64 * 1024
# A tenant's programs share one user id of the machine.
MAX_OF_ONE = 128
DROPPED = frozenset({"proxy-connection", "proxy-authorization", "connection", "keep-alive", "te", "upgrade", "host"})


class Refused(Exception):
    """An answer to the program instead of a connection."""

    def __init__(self, status: str, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def _not_an_address() -> Refused:
    return Refused("400 Bad Request", "This is a proxy: ask it for a whole address, http://host/path.")


@dataclass(frozen=True, slots=True)
class Request:
    """What the program asked for. `method`, `path` and `fields` are of a plain request; empty for a tunnel."""

    url: str
    method: str = ""
    path: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_tunnel(self) -> bool:
        return not self.method

    def head(self, *, proxied: bool) -> bytes:
        """What goes to the target before the rest: a proxy takes the whole address. Empty for a tunnel."""
        if self.is_tunnel:
            return b""
        line = f"{self.method} {self.url if proxied else self.path} HTTP/1.1"
        return "\r\n".join([line, *self.fields, "Connection: close", "", ""]).encode("latin-1")


def parse(head: bytes) -> Request:
    """The request at the beginning of a connection; raises Refused."""
    line, *fields = head.decode("latin-1").split("\r\n")
    try:
        method, target, version = line.split(" ")
    except ValueError:
        raise Refused("400 Bad Request", "This is a proxy for HTTP.") from None
    if not version.startswith("HTTP/1."):
        raise Refused("400 Bad Request", "This is a proxy for HTTP.")
    if method == "CONNECT":
        return Request(_checked(f"https://{target}/").geturl())
    url = _checked(target)
    if url.scheme != "http":
        raise _not_an_address()
    path = target.removeprefix(f"{url.scheme}://{url.netloc}") or "/"
    kept = [entry for entry in fields if entry and entry.partition(":")[0].strip().lower() not in DROPPED]
    # One request for each connection: a second one could be meant for another host.
    return Request(target, method, path if path.startswith("/") else "/" + path, (f"Host: {url.netloc}", *kept))


def _checked(target: str) -> SplitResult:
    """The parts of an address; raises Refused for one that is none, or that parsers read in more than one way."""
    try:
        url = urlsplit(target)
        url.port  # noqa: B018  parsed, and refused, only now
    except ValueError:
        raise _not_an_address() from None
    if not url.netloc or not all("!" <= sign <= "~" for sign in target):
        raise _not_an_address()
    return url


@dataclass(slots=True)
class Proxy:
    """One process's proxy; `serve` runs until it is cancelled."""

    policy: Leads
    path: Path
    read: Callable[[bytes], Request] = parse
    _of: Counter[int] = field(default_factory=Counter)

    async def serve(self) -> None:
        listener = listen(self.path)
        made = os.stat(self.path).st_ino
        server = await asyncio.start_unix_server(self._handle, sock=listener, limit=HEAD_BYTES)
        try:
            await server.serve_forever()
        finally:
            server.close()
            with contextlib.suppress(OSError):
                if os.stat(self.path).st_ino == made:  # else a newer process's
                    self.path.unlink()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _peer_uid(writer)
        try:
            with self._counted(peer):
                try:
                    await self._carry(reader, writer)
                except Refused as refusal:
                    await _refuse(refusal, peer, writer)
                    await _drop_the_rest(reader, writer)
        except Refused as refusal:  # too many at once: nobody's rest is waited for
            await _refuse(refusal, peer, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    @contextlib.contextmanager
    def _counted(self, peer: int) -> Iterator[None]:
        if self._of[peer] >= MAX_OF_ONE:
            raise Refused("429 Too Many Requests", "Too many connections at once.")
        self._of[peer] += 1
        try:
            yield
        finally:
            self._of[peer] -= 1

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = self.read(await _head(reader))
        way = await self._way(request)
        there_reader, there_writer = await _connect(request, way)
        try:
            if request.is_tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            there_writer.write(request.head(proxied=way.proxy is not None))
            await _both_ways(_pump(reader, there_writer), _pump(there_reader, writer), tunnel=request.is_tunnel)
        finally:
            there_writer.close()

    async def _way(self, request: Request) -> Way:
        try:
            async with asyncio.timeout(CONNECT_S):
                return await asyncio.to_thread(self.policy.way, request.url)
        except Invalid as error:
            # Programs show the reason and nothing else: pip, "Tunnel connection failed: 403 …".
            where = urlsplit(request.url).netloc.rpartition("@")[2][:260]
            reason = (
                f"{where} may not be reached from here (PLStack: settings of software sources, or PLSTACK_EGRESS_ALLOW)"
            )
            raise Refused(f"403 {reason}", f"{error.message} {error.hint} ({where}) {ALLOWING}") from error
        except TimeoutError:
            raise Refused("504 Gateway Timeout", "The host's name is not resolved in time.") from None


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _connect(request: Request, way: Way) -> Streams:
    host, port = way.proxy or (way.target.address, way.target.port)
    by = " through the proxy of the platform's settings" if way.proxy else ""
    try:
        async with asyncio.timeout(CONNECT_S):
            streams = await asyncio.open_connection(host, port)
            if way.proxy and request.is_tunnel:
                await _ask_for_tunnel(streams, way)
            return streams
    except TimeoutError:
        raise Refused("504 Gateway Timeout", f"The host does not answer{by}.") from None
    except OSError:
        raise Refused("502 Bad Gateway", f"The host cannot be reached{by}.") from None


async def _ask_for_tunnel(streams: Streams, way: Way) -> None:
    """Through the operator's proxy, by the name: it resolves on its own, and knows names that are not known here."""
    reader, writer = streams
    host = f"[{way.target.host}]" if ":" in way.target.host else way.target.host
    writer.write(f"CONNECT {host}:{way.target.port} HTTP/1.1\r\nHost: {host}:{way.target.port}\r\n\r\n".encode())
    line = (await _head(reader)).partition(b"\r\n")[0]
    if line.split(b" ")[1:2] != [b"200"]:
        writer.close()
        said = line.decode("latin-1")[:200]
        raise Refused("502 Bad Gateway", f"The proxy of the platform's settings refuses the connection: {said}")


def listen(path: Path) -> socket.socket:
    """A listening socket at `path` for every user id, in the place of one that an earlier process left."""
    path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    beside = path.parent.parent / f".{path.name}.{os.getpid()}"  # workloads see the folder itself
    beside.unlink(missing_ok=True)
    with short_address(beside) as address:
        listener.bind(address)
    beside.chmod(0o666)
    listener.listen(512)
    beside.replace(path)
    listener.setblocking(False)
    return listener


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(HEAD_S):
            return (await reader.readuntil(b"\r\n\r\n"))[:-4]
    except asyncio.LimitOverrunError:
        raise Refused("431 Request Header Fields Too Large", "The request's headers are too long.") from None


async def _both_ways(up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None], *, tunnel: bool) -> None:
    """Until both directions have ended, or one broke; a plain answer's end is the end of the exchange."""
    there, back = asyncio.create_task(up), asyncio.create_task(down)
    try:
        await asyncio.wait({there, back} if tunnel else {back}, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in (there, back):
            task.cancel()
        await asyncio.gather(there, back, return_exceptions=True)


async def _refuse(refusal: Refused, peer: int, writer: asyncio.StreamWriter) -> None:
    log.info("refused to user id %s: %s", peer, refusal)
    with contextlib.suppress(OSError):
        writer.write(_answer(refusal))
        await writer.drain()


async def _drop_the_rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Who still sends when the connection is closed learns that it broke, and not why the request was refused."""
    writer.write_eof()
    async with asyncio.timeout(REST_S):
        while await reader.read(CHUNK):
            pass


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        async with asyncio.timeout(SILENCE_S):
            data = await reader.read(CHUNK)
            if not data:
                break
            writer.write(data)
            await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _answer(refusal: Refused) -> bytes:
    body = f"{refusal.words}\n".encode()
    head = f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


def _peer_uid(writer: asyncio.StreamWriter) -> int:
    peer: socket.socket = writer.get_extra_info("socket")
    _pid, uid, _gid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(uid)
