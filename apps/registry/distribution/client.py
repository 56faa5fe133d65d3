"""Asking the registry, with tokens that the platform makes for itself: what there is, and that something go."""

import json
import logging
import re
import ssl
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpcore
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Unavailable
from apps.registry.distribution import bearer, redirects
from apps.registry.distribution.access import EVERYTHING
from apps.registry.distribution.bearer import Grant
from apps.workloads.drivers.local.oci import manifest as oci

TIMEOUTS = {"connect": 5.0, "pool": 5.0, "read": 30.0, "write": 30.0}
# Of a layer: once it has come, the registry may read all of it again.
LONG_TIMEOUTS = {**TIMEOUTS, "read": 600.0, "write": 600.0}
PAGE = 500
MOST_PAGES = 2000
_AWAY = (httpcore.ProtocolError, httpcore.NetworkError, httpcore.TimeoutException, OSError)
log = logging.getLogger(__name__)
_NEXT = re.compile(r'<([^>]+)>;\s*rel="?next"?')


class RegistryAway(Unavailable):
    """There is none, or it does not answer as the specification says."""

    code = "registry_away"

    def __init__(self) -> None:
        super().__init__(_("The image registry does not answer now."), hint=_("Try again in a moment."))


class LeadsAway(RegistryAway):
    """It keeps its layers where the platform does not connect."""

    code = "registry_leads_away"

    def __init__(self, host: str) -> None:
        Unavailable.__init__(
            self,
            _("The image registry leads to %(host)s, where the platform does not connect.") % {"host": host or "—"},
            hint=_("Only public addresses are used; an operator can allow single hosts."),
        )


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as the registry has it, under its digest."""

    digest: str
    body: bytes


def is_configured() -> bool:
    return bool(settings.REGISTRY_URL or settings.REGISTRY_SOCKET)


class Client:
    """One connection; raises `RegistryAway` from each of its methods. Use it as a context manager."""

    def __init__(self, subject: str = bearer.PLATFORM) -> None:
        """`subject`: as whom it asks; the registry names them to whoever hears of a push."""
        if not is_configured():
            raise RegistryAway
        self._subject = subject
        context = ssl.create_default_context() if settings.REGISTRY_URL.startswith("https:") else None
        self._pool = httpcore.ConnectionPool(uds=settings.REGISTRY_SOCKET or None, ssl_context=context)
        self._base = settings.REGISTRY_URL or "http://registry"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.close()

    def repositories(self) -> Iterator[str]:
        yield from self._pages("/v2/_catalog", "repositories", Grant("catalog", frozenset("*"), kind="registry"))

    def tags(self, name: str) -> list[str]:
        """Empty for a repository that is not there."""
        return list(self._pages(f"/v2/{name}/tags/list", "tags", _all(name)))

    def manifest(self, name: str, reference: str) -> Manifest | None:
        """By tag or digest; None where there is none."""
        answer = self._ask("GET", f"/v2/{name}/manifests/{reference}", _all(name), headers={"Accept": oci.ACCEPT})
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        _check(answer, HTTPStatus.OK)
        return Manifest(oci.digest_of(answer.content), answer.content)

    def small_blob(self, name: str, digest: str) -> bytes | None:
        """Such as a configuration; None where it is not given out from here."""
        with self._stream(f"/v2/{name}/blobs/{digest}", _all(name)) as answer:
            return answer.read() if answer.status == HTTPStatus.OK else None

    def blob(self, name: str, digest: str, size: int) -> Generator[bytes]:
        """All of its bytes, which are as many as said; `RegistryAway` where they are not, too."""
        with self._stream(f"/v2/{name}/blobs/{digest}", _all(name)) as answer:
            _check(answer, HTTPStatus.OK)
            for piece in answer.iter_stream():
                size -= len(piece)
                yield piece
        if size:
            raise RegistryAway

    @contextmanager
    def _stream(self, path: str, grant: Grant) -> Iterator[httpcore.Response]:
        url, sent, waits = self._url(path), self._headers((grant,)), {"timeout": LONG_TIMEOUTS}
        try:
            with self._pool.stream("GET", url, headers=sent, extensions=waits) as answer:
                if not redirects.is_redirect(answer):
                    yield answer
                    return
                with redirects.opened(answer, url, LONG_TIMEOUTS) as found:
                    yield found
        except redirects.LeadsNowhere as error:
            log.warning("The registry leads to %s for %s, where the platform does not connect.", error.host, path)
            raise LeadsAway(error.host) from error
        except _AWAY as error:
            raise RegistryAway from error

    def delete(self, name: str, digest: str) -> None:
        """A manifest, and all tags that lead to it. No effect where it is gone."""
        answer = self._ask("DELETE", f"/v2/{name}/manifests/{digest}", _all(name))
        if answer.status != HTTPStatus.NOT_FOUND:
            _check(answer, HTTPStatus.ACCEPTED)

    def put_manifest(self, name: str, reference: str, body: bytes, media_type: str) -> None:
        kind = {"Content-Type": media_type}
        answer = self._ask("PUT", f"/v2/{name}/manifests/{reference}", _all(name), headers=kind, body=body)
        _check(answer, HTTPStatus.CREATED)

    def put_blob(self, name: str, body: bytes) -> None:
        self.put_large_blob(name, oci.Blob(oci.digest_of(body), len(body)), body)

    def put_large_blob(self, name: str, blob: oci.Blob, body: bytes | Iterator[bytes]) -> None:
        """Piece by piece. The registry takes it only if it is what its digest says."""
        answer = self._ask("POST", f"/v2/{name}/blobs/uploads/", _all(name))
        _check(answer, HTTPStatus.ACCEPTED)
        place = next(value.decode() for key, value in answer.headers if key.lower() == b"location")
        target = f"{place}{'&' if '?' in place else '?'}digest={blob.digest}"
        about = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size)}
        _check(self._ask("PUT", target, _all(name), headers=about, body=body), HTTPStatus.CREATED)

    def has_blob(self, name: str, digest: str) -> bool:
        answer = self._ask("HEAD", f"/v2/{name}/blobs/{digest}", _all(name))
        if redirects.is_redirect(answer):  # it says where the blob lies, after a look that it is there
            return True
        if answer.status != HTTPStatus.NOT_FOUND:
            _check(answer, HTTPStatus.OK)
        return answer.status == HTTPStatus.OK

    def mount_blob(self, name: str, digest: str, source: str) -> bool:
        """Have what another repository has in this one, too; False where it is not there."""
        path = f"/v2/{name}/blobs/uploads/?mount={digest}&from={source}"
        return self._ask("POST", path, _all(name), _all(source)).status == HTTPStatus.CREATED

    def _pages(self, path: str, key: str, grant: Grant) -> Iterator[str]:
        following: str | None = f"{path}?n={PAGE}"
        for _page in range(MOST_PAGES):
            if following is None:
                return
            answer = self._ask("GET", following, grant)
            if answer.status == HTTPStatus.NOT_FOUND:
                return
            _check(answer, HTTPStatus.OK)
            yield from (each for each in _json(answer).get(key) or () if isinstance(each, str))
            link = next((value.decode() for name, value in answer.headers if name.lower() == b"link"), "")
            found = _NEXT.search(link)
            following = found[1] if found else None

    def _ask(
        self,
        method: str,
        path: str,
        *grants: Grant,
        headers: dict[str, str] | None = None,
        body: bytes | Iterator[bytes] | None = None,
    ) -> httpcore.Response:
        sent = [*self._headers(grants), *(headers or {}).items()]
        waits = {"timeout": TIMEOUTS if isinstance(body, bytes | None) else LONG_TIMEOUTS}
        try:
            return self._pool.request(method, self._url(path), headers=sent, content=body, extensions=waits)
        except _AWAY as error:
            raise RegistryAway from error

    def _headers(self, grants: Sequence[Grant]) -> list[tuple[str, str]]:
        host = settings.REGISTRY_HOST if settings.REGISTRY_URL else "registry"
        return [("Host", host), ("Authorization", f"Bearer {bearer.issue(self._subject, grants)}")]

    def _url(self, path: str) -> str:
        return path if path.startswith("http") else f"{self._base}{path}"


def _all(name: str) -> Grant:
    return Grant(name, frozenset(action.value for action in EVERYTHING))


def _check(answer: httpcore.Response, wanted: HTTPStatus) -> None:
    if answer.status != wanted:
        raise RegistryAway


def _json(answer: httpcore.Response) -> dict[str, Any]:
    try:
        found = json.loads(answer.content)
    except ValueError as error:
        raise RegistryAway from error
    return found if isinstance(found, dict) else {}
