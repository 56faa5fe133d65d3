"""The agent's HTTP server, which accepts only signed requests of the platform."""

import json
import logging
import socket
import ssl
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from apps.workloads.drivers.base import CannotSee, DriverError, Unsupported
from apps.workloads.drivers.channel.both_ways import both_ways
from apps.workloads.drivers.channel.sessions import Session
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote import codec, signing
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import connected
from plstack.agent.calls import Calls
from plstack.agent.identity import Identity

log = logging.getLogger(__name__)
MAX_BODY = 4 * 1024 * 1024
IDLE_TIMEOUT_S = 60.0
CONNECT_S = 5.0


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, identity: Identity, driver: LocalDriver, calls: Calls) -> None:
        super().__init__((identity.host, identity.port), Handler)
        self.identity, self.driver, self.calls = identity, driver, calls
        self.nonces = signing.Nonces()
        self.secret = bytes.fromhex(identity.secret)
        if identity.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(identity.certificate, identity.key)
            # The handshake runs in the connection's own thread, or one slow client would block all others.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)


class Handler(BaseHTTPRequestHandler):
    """POST /v1/<verb> with a JSON body; `exec` and `connect` become streams."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S

    def do_POST(self) -> None:
        """Answer one signed request with one signed response."""
        self.close_connection = True
        try:
            body = self._body()
            nonce = signing.check_request(self.server.secret, dict(self.headers), "POST", self.path, body)
            self.server.nonces.use(nonce)
            asked: dict[str, Any] = json.loads(body)
        except (signing.Forged, ValueError) as error:
            self._refuse(HTTPStatus.FORBIDDEN, str(error))
            return
        try:
            self._answer(nonce, self.path.removeprefix("/v1/"), asked)
        except DriverError as error:
            self._send_signed(nonce, HTTPStatus.CONFLICT, codec.error_out(error))
        except (KeyError, TypeError, ValueError) as error:
            unread = CannotSee(Said(Code.UNREADABLE, {"error": f"{type(error).__name__}: {error}"}))
            self._send_signed(nonce, HTTPStatus.BAD_REQUEST, codec.error_out(unread))

    def _body(self) -> bytes:
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 <= length <= MAX_BODY:
            raise ValueError("too long")
        return self.rfile.read(length)

    def _answer(self, nonce: str, verb: str, asked: dict[str, Any]) -> None:
        if verb == "exec":
            env = {str(name): str(value) for name, value in dict(asked["env"]).items()}
            argv = [str(word) for word in asked["argv"]]
            process = self.server.driver.exec(self.server.calls.handle(asked), argv, bool(asked["tty"]), env)
            Session(self._stream(nonce), process).serve()
        elif verb == "connect":
            try:
                endpoint = self.server.driver.endpoint(self.server.calls.handle(asked), int(asked["port"]))
                here = connected(endpoint, CONNECT_S)
            except OSError as error:
                raise DriverError(Said(Code.NOT_ANSWERING, {"error": str(error.strerror)})) from error
            here.settimeout(None)
            both_ways(self._stream(nonce), here)
        elif verb in self.server.calls.verbs:
            self._send_signed(nonce, HTTPStatus.OK, self.server.calls.verbs[verb](asked))
        else:
            unknown = Unsupported(Said(Code.UNKNOWN_VERB, {"verb": verb}))
            self._send_signed(nonce, HTTPStatus.NOT_FOUND, codec.error_out(unknown))

    def _send_signed(self, nonce: str, status: HTTPStatus, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header(signing.SIGNATURE, signing.answer_signature(self.server.secret, nonce, int(status), data))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        """Refuse an unauthenticated request: without a signature or details."""
        log.warning("refused a request from %s: %s", self.client_address[0], text)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _stream(self, nonce: str) -> socket.socket:
        status = HTTPStatus.SWITCHING_PROTOCOLS
        self.send_response(status)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "plstack")
        self.send_header(signing.SIGNATURE, signing.answer_signature(self.server.secret, nonce, int(status), b""))
        self.end_headers()
        self.wfile.flush()
        self.connection.settimeout(None)
        stream: socket.socket = self.connection
        return stream

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)
