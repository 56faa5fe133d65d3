"""One HTTP POST to an address that a tenant chose: only to the checked IP address, no redirects, body not read.

Uses sockets directly, because the usual clients either resolve the name again or limit only the time between two bytes.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from urllib.parse import quote, urlsplit

from apps.common.errors import Invalid
from apps.common.outgoing import PinnedTarget, resolve_public
from apps.notifications.choices import HookFault

TOTAL_S = 10.0
STATUS_LINE = 1024
SAFE = "/?%:@!$&'()*+,;=~-._[]"  # of a path and its query, as typed


@dataclass(frozen=True, slots=True)
class Post:
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` None: there was no answer, and `fault` says why."""

    status: int | None
    fault: HookFault
    milliseconds: int

    @property
    def accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


async def post_all(posts: list[Post], *, allow: list[str], total_s: float = TOTAL_S) -> list[Answer]:
    """Post all concurrently, each within `total_s` seconds from name resolution to status line."""
    return list(await asyncio.gather(*(_timed(each, allow, total_s) for each in posts)))


async def _timed(post: Post, allow: list[str], total_s: float) -> Answer:
    begun = monotonic()
    status, fault = None, HookFault.NONE
    try:
        status = await asyncio.wait_for(_post(post, allow), total_s)
        if not 200 <= status < 300:
            fault = HookFault.STATUS
    except TimeoutError:
        fault = HookFault.TIMEOUT
    except Invalid:
        fault = HookFault.ADDRESS
    except ssl.SSLError:
        fault = HookFault.TLS
    except (OSError, ValueError, EOFError, asyncio.LimitOverrunError):
        fault = HookFault.CONNECTION
    return Answer(status, fault, int((monotonic() - begun) * 1000))


async def _post(post: Post, allow: list[str]) -> int:
    target = await asyncio.to_thread(resolve_public, post.url, allow)
    secure = ssl.create_default_context() if urlsplit(post.url).scheme == "https" else None
    reader, writer = await asyncio.open_connection(
        target.address, target.port, ssl=secure, server_hostname=target.host if secure else None, limit=STATUS_LINE
    )
    try:
        writer.write(_head(post, target) + post.body)
        await writer.drain()
        return await _status(reader)
    finally:
        writer.transport.abort()  # the answer's body is nobody's business


def _head(post: Post, target: PinnedTarget) -> bytes:
    parts = urlsplit(post.url)
    path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=SAFE)
    host = f"[{target.host}]" if ":" in target.host else target.host
    usual = {"http": 80, "https": 443}[parts.scheme]
    fields = {
        "Host": host if target.port == usual else f"{host}:{target.port}",
        "User-Agent": "PLStack-Webhooks/1",
        "Content-Type": "application/json",
        "Content-Length": str(len(post.body)),
        "Connection": "close",
        **post.headers,
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _status(reader: asyncio.StreamReader) -> int:
    """The status code; informational answers (1xx) are passed over."""
    while True:
        line = await reader.readuntil(b"\r\n")
        version, _blank, rest = line.decode("latin-1").partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise ValueError("no HTTP answer")
        status = int(rest[:3])
        if status >= 200:
            return status
        while await reader.readuntil(b"\r\n") != b"\r\n":
            continue
