"""Blobs that a registry elsewhere keeps in an object store: asked for one, it answers with where that lies.

The registry is the operator's; where it leads to is checked like any address that somebody else names
(`apps.common.outgoing`): public ones, and those in `IMAGE_SOURCES_PRIVATE`. The name is resolved once, and it is the
address that was checked to which the connection goes. No credential goes along, and nothing leads from TLS to none.
"""

import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore
from django.conf import settings

from apps.common.errors import Invalid
from apps.common.outgoing import resolve_public

REDIRECTS = frozenset(
    {
        *(HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER),
        *(HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT),
    }
)
MOST_HOPS = 5


class LeadsNowhere(Exception):
    """`host`: to which it leads; `""` where that is no address, or there are too many."""

    def __init__(self, host: str = "") -> None:
        super().__init__(host)
        self.host = host


class _Checked(httpcore.SyncBackend):
    """Connects to checked addresses alone. `scheme`: of the one address that is asked."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        shown = f"[{host}]" if ":" in host else host
        try:
            target = resolve_public(f"{self._scheme}://{shown}:{port}/", settings.IMAGE_SOURCES_PRIVATE)
        except Invalid as error:
            raise LeadsNowhere(f"{shown}:{port}") from error
        return super().connect_tcp(target.address, target.port, timeout, local_address, socket_options)


@contextmanager
def opened(answer: httpcore.Response, url: str, waits: Mapping[str, float]) -> Iterator[httpcore.Response]:
    """What the address of a redirect answers in the end. `url`: what `answer` is to. Raises LeadsNowhere."""
    for _hop in range(MOST_HOPS):
        url = _place(answer, url)
        parts = urlsplit(url)
        context = ssl.create_default_context() if parts.scheme == "https" else None
        with (
            httpcore.ConnectionPool(ssl_context=context, network_backend=_Checked(parts.scheme)) as pool,
            pool.stream("GET", url, headers=[("Host", parts.netloc)], extensions={"timeout": dict(waits)}) as found,
        ):
            if found.status not in REDIRECTS:
                yield found
                return
            answer = found
    raise LeadsNowhere


def is_redirect(answer: httpcore.Response) -> bool:
    return answer.status in REDIRECTS


def _place(answer: httpcore.Response, url: str) -> str:
    named = next((value.decode("latin-1") for key, value in answer.headers if key.lower() == b"location"), "")
    try:
        place = urljoin(url, named)
        was, now = urlsplit(url), urlsplit(place)
    except ValueError as error:
        raise LeadsNowhere from error
    if not named or "@" in now.netloc or now.scheme not in {"https", was.scheme}:
        raise LeadsNowhere(now.netloc.rpartition("@")[2])
    return place
