"""A client of registries: the pulling half of the OCI Distribution Specification. Standard library only.

Tokens as the Distribution project's "Token Authentication Specification" has it. A redirect, as to the object store of
a registry, never takes a credential to another host, nor from TLS to none, nor to what only this machine reaches; and
who asks for a credential there gets none.
"""

import base64
import email.message
import http.client
import ipaddress
import json
import os
import re
import socket
import ssl
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

from apps.workloads.drivers.local.oci.manifest import ACCEPT, MOST_BYTES, Blob

TIMEOUT_S = 30.0
TRIES = 5
PAUSE_S = 0.2
PIECE = 256 * 1024
MOST_TOKEN = 1024 * 1024
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')
_LATER = frozenset({429, 500, 502, 503, 504})


class Refused(Exception):
    """The registry answers, and does not give it out."""

    def __init__(self, status: int) -> None:
        super().__init__(f"it answers {status}")
        self.status = status


class Unreachable(Exception):
    """It does not answer, or not to the end."""


class BadCertificate(Unreachable):
    """It shows a certificate that is not to be trusted; asking again does not help."""


class Mismatch(Exception):
    """What came is not what the digest or the size says."""


class Cancelled(Exception):
    """Another part of the same image has failed."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a registry is reached. `basic`: user and password in base64, as in Docker's `config.json`; "" for none.

    `bearer`: a token of the registry that is there already, and tried first.
    """

    host: str
    plain_http: bool = False
    certificates: str = ""
    basic: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:  # fmt: skip
        was, now = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if now.scheme != "https" and now.scheme != was.scheme:
            raise Unreachable(f"it leads from {was.scheme} to {now.scheme}")
        if now.hostname != was.hostname and _is_own(now.hostname or ""):
            raise Unreachable(f"it leads to {now.netloc}, which is this machine's own")
        further = super().redirect_request(req, fp, code, msg, headers, newurl)
        if further is not None:
            if req.get_method() == "HEAD":
                further.method = "HEAD"  # an address that was signed for it answers nothing else
            if (was.scheme, was.netloc) != (now.scheme, now.netloc):
                further.remove_header("Authorization")
        return further


def _is_own(host: str) -> bool:
    """Whether the name leads to this machine itself, or to what is on its link alone, such as a cloud's metadata."""
    try:
        found = [ipaddress.ip_address(entry[4][0]) for entry in socket.getaddrinfo(host, None)]
    except (OSError, UnicodeError, ValueError):
        return False  # connecting says so
    return any(each.is_loopback or each.is_link_local or each.is_unspecified for each in found)


class Registry:
    """One repository of a registry. Methods may be called by several threads.

    `handlers`: of urllib, which make the connections instead of its own.
    """

    def __init__(self, access: Access, repository: str, handlers: Sequence[urllib.request.BaseHandler] = ()) -> None:
        self._access = access
        self._scheme = "http" if access.plain_http else "https"
        self._base = f"{self._scheme}://{access.host}/v2/{repository}"
        if not handlers:
            context = ssl.create_default_context(cafile=access.certificates or None)
            handlers = (urllib.request.HTTPSHandler(context=context),)
        self._opener = urllib.request.build_opener(_Redirects, *handlers)
        self._authorization = f"Bearer {access.bearer}" if access.bearer else ""
        self._asking = threading.Lock()

    def manifest(self, digest: str) -> bytes:
        """Raises Refused, Unreachable; its digest is not looked at."""
        return self._small(f"{self._base}/manifests/{digest}", {"Accept": ACCEPT})

    def small_blob(self, digest: str) -> bytes:
        """One of at most 4 MiB, such as a configuration. Raises Refused, Unreachable."""
        return self._small(f"{self._base}/blobs/{digest}", {})

    def _small(self, url: str, headers: Mapping[str, str]) -> bytes:
        for attempt in range(1, TRIES + 1):
            try:
                with self._get(url, headers) as answer:
                    return _read_all(answer, MOST_BYTES)
            except Unreachable as error:
                if attempt == TRIES or isinstance(error, BadCertificate):
                    raise
                threading.Event().wait(PAUSE_S * 2**attempt)
        raise AssertionError("unreachable")  # pragma: no cover

    def fetch(self, blob: Blob, path: Path, take: Callable[[int], None], cancelled: threading.Event) -> None:
        """The blob's bytes at `path`, going on with what is there of them. `take`: told how many came.

        What came is kept when the line breaks, and asked for again from there. Raises Refused, Unreachable, Mismatch,
        Cancelled, OSError (a full disk).
        """
        failures = 0
        while (had := path.stat().st_size if path.exists() else 0) != blob.size or not path.exists():
            if had > blob.size:
                raise Mismatch
            try:
                self._go_on(blob, path, had, take, cancelled)
            except BadCertificate:
                raise
            except Unreachable:
                failures = 0 if path.exists() and path.stat().st_size > had else failures + 1
                if failures >= TRIES or cancelled.wait(PAUSE_S * 2**failures):
                    raise

    def fetch_whole(self, blob: Blob, path: Path) -> None:
        """As `fetch`, for who follows no progress and stops for nobody."""
        self.fetch(blob, path, lambda _size: None, threading.Event())

    def _go_on(self, blob: Blob, path: Path, had: int, take: Callable[[int], None], cancelled: threading.Event) -> None:
        headers = {"Range": f"bytes={had}-"} if had else {}
        with self._get(f"{self._base}/blobs/{blob.digest}", headers) as answer:
            anew = answer.status != HTTPStatus.PARTIAL_CONTENT
            if anew and had:
                take(-had)
                had = 0
            with open(path, "wb" if anew else "ab") as file:
                while data := _read(answer, PIECE):
                    if cancelled.is_set():
                        raise Cancelled
                    had += len(data)
                    if had > blob.size:
                        raise Mismatch
                    file.write(data)
                    take(len(data))
        if had < blob.size:
            raise Unreachable("it ended too early")

    def _get(self, url: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        """Asked again with a token where the registry wants one."""
        authorization = self._authorization
        answer = self._open(url, headers, authorization)
        if isinstance(answer, urllib.error.HTTPError) and self._asks_for_token(answer):
            with self._asking:
                if self._authorization == authorization:  # else another thread has asked meanwhile
                    self._authorization = self._authorize(answer.headers)
            answer = self._open(url, headers, self._authorization)
        if isinstance(answer, urllib.error.HTTPError):
            if answer.code in _LATER:
                raise Unreachable(f"it answers {answer.code}")
            raise Refused(answer.code)
        return answer

    def _asks_for_token(self, answer: urllib.error.HTTPError) -> bool:
        """The registry itself, not where it has led to."""
        asked = urllib.parse.urlsplit(answer.url or "").netloc
        return answer.code == HTTPStatus.UNAUTHORIZED and asked == self._access.host

    def _open(
        self, url: str, headers: Mapping[str, str], authorization: str, method: str = "GET", body: Any = None
    ) -> http.client.HTTPResponse | urllib.error.HTTPError:
        request = urllib.request.Request(url, body, dict(headers), method=method)  # noqa: S310 - the scheme is ours
        if authorization:
            request.add_header("Authorization", authorization)
        try:
            found: http.client.HTTPResponse = self._opener.open(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            return error
        except urllib.error.URLError as error:
            untrusted = isinstance(error.reason, ssl.SSLCertVerificationError)
            raise (BadCertificate if untrusted else Unreachable)(str(error.reason)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        return found

    def _authorize(self, headers: email.message.Message) -> str:
        """The header that answers the challenge. Raises Refused where there is nothing to answer it with."""
        challenge = headers.get("WWW-Authenticate", "")
        kind, fields = challenge.partition(" ")[0].lower(), dict(_CHALLENGE.findall(challenge))
        if kind == "basic" and self._access.basic:
            return f"Basic {self._access.basic}"
        realm = urllib.parse.urlsplit(fields.get("realm", ""))
        if kind != "bearer" or realm.scheme not in ("https", self._scheme):
            raise Refused(HTTPStatus.UNAUTHORIZED)
        asked = {name: fields[name] for name in ("service", "scope") if name in fields}
        query = "&".join(part for part in (realm.query, urllib.parse.urlencode(asked)) if part)
        basic = f"Basic {self._access.basic}" if self._access.basic else ""
        answer = self._open(urllib.parse.urlunsplit(realm._replace(query=query)), {}, basic)
        if isinstance(answer, urllib.error.HTTPError):
            raise Refused(answer.code)
        with answer:
            return f"Bearer {_token(_read_all(answer, MOST_TOKEN))}"


def _token(body: bytes) -> str:
    try:
        found: Any = json.loads(body)
        token = found.get("token") or found["access_token"]
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise Refused(HTTPStatus.UNAUTHORIZED) from error
    return re.sub(r"[^\x21-\x7e]", "", str(token))


def _read(answer: http.client.HTTPResponse, size: int) -> bytes:
    try:
        return answer.read(size)
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(f"{type(error).__name__}: {error}") from error


def _read_all(answer: http.client.HTTPResponse, most: int) -> bytes:
    found = _read(answer, most + 1)
    if len(found) > most:
        raise Mismatch
    return found


def basic_of(path: Path, host: str) -> str:
    """The credential for this registry from a file like Docker's `config.json`; "" where there is none.

    Raises OSError, ValueError.
    """
    if not path.exists():
        return ""
    entry = json.loads(path.read_text()).get("auths", {}).get(host, {})
    if "username" in entry:
        return base64.b64encode(f"{entry['username']}:{entry['password']}".encode()).decode()
    return str(entry.get("auth", ""))


def auth_file(home: Path) -> Path:
    """Where an operator keeps the credentials of registries on this machine; readable by the platform alone."""
    return Path(os.environ.get("REGISTRY_AUTH_FILE") or home / "registry-auth.json")
