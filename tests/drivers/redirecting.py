"""A registry that keeps its blobs in an object store, as those in clouds do: its front answers with where they lie.

Manifests and uploads pass through to the registry behind. The store is a server of its own on another port; like S3's,
it refuses whoever brings a credential to an address that is signed, and answers only the method that was signed.
"""

import http.client
import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

Headers = dict[str, str]


@dataclass(slots=True)
class Front:
    """`host` of the registry that clients see, `store` of where its blobs lie. `asked_store`: method, path, headers.

    `leads_to`: another address than the store's. `challenge`: with which the store answers 401 instead.
    """

    host: str
    store: str
    leads_to: str = ""
    challenge: str = ""
    asked_store: list[tuple[str, str, Headers]] = field(default_factory=list)

    @property
    def secrets_told(self) -> list[str]:
        """Credentials that came to the store."""
        return [headers["Authorization"] for _method, _path, headers in self.asked_store if "Authorization" in headers]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.handled()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_GET

    def handled(self) -> None:
        raise NotImplementedError

    def say(self, status: int, body: bytes = b"", headers: Headers | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def passed_on(self, host: str, path: str, headers: Headers) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request(self.command, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        skipped = {"transfer-encoding", "connection", "date", "server"}
        told = {name: value for name, value in answer.headers.items() if name.lower() not in skipped}
        if self.command != "HEAD":
            told["Content-Length"] = str(len(data))
        self.say(answer.status, data, told)
        connection.close()

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def redirecting(behind: str) -> Iterator[Front]:
    """In front of the registry at this host."""
    front = Front("", "")

    class Store(_Handler):
        def handled(self) -> None:
            front.asked_store.append((self.command, self.path, dict(self.headers)))
            parts = urlsplit(self.path)
            if front.challenge:
                self.say(401, b"", {"WWW-Authenticate": front.challenge})
            elif "Authorization" in self.headers or parse_qs(parts.query).get("signed") != [self.command]:
                self.say(400, b"Only one auth mechanism allowed")
            else:
                wanted = self.headers.get("Range")
                self.passed_on(behind, parts.path, {"Range": wanted} if wanted else {})

    class Registry(_Handler):
        def handled(self) -> None:
            if "/blobs/sha256:" in self.path and self.command in ("GET", "HEAD"):
                place = f"http://{front.store}{self.path}?signed={self.command}"
                self.say(307, b"", {"Location": front.leads_to or place})
            else:
                kept = {name: self.headers[name] for name in ("Accept", "Content-Type") if name in self.headers}
                self.passed_on(behind, self.path, kept)

    with _serving(Store) as front.store, _serving(Registry) as front.host:
        yield front


@contextmanager
def _serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
