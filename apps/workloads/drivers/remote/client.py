"""The platform's end of the line to one agent. Whatever goes wrong on the way is `CannotSee`, never an answer."""

import hashlib
import http.client
import json
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.remote import codec, signing
from apps.workloads.drivers.said import Code, Said

CONNECT_S, ANSWER_S = 3.0, 15.0
# After a failed connection, or without an answer in time, the node is not tried again for so long: a dead one must not
# hold up the others.
PAUSE_S = 4.0
MAX_ANSWER = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Peer:
    """An agent: its node's id, where it answers (`http://host:port`, https), their secret.

    `certificate`: SHA-256 of the certificate that it must show, hexadecimal; only with https.
    """

    node_id: str
    address: str
    secret: bytes
    certificate: str = ""


_resting: dict[str, float] = {}
_lock = threading.Lock()


def call(peer: Peer, verb: str, payload: dict[str, Any], timeout_s: float = ANSWER_S) -> dict[str, Any]:
    """Ask the agent. Raises what its driver raised, or `CannotSee`."""
    body = json.dumps(payload).encode()
    path = f"/v1/{verb}"
    headers = signing.request_headers(peer.secret, peer.node_id, "POST", path, body)
    connection = _connection(peer, timeout_s)
    try:
        connection.request("POST", path, body, {**headers, "Content-Type": "application/json"})
        response = connection.getresponse()
        data = response.read(MAX_ANSWER)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, TimeoutError):  # it takes calls and answers none: as costly to ask as one that is gone
            _rest(peer)
        raise CannotSee(Said(Code.NODE_SILENT, {"error": type(error).__name__})) from error
    finally:
        connection.close()
    return _understood(peer, headers[signing.NONCE], response.status, data, response.getheader(signing.SIGNATURE))


def upgrade(peer: Peer, verb: str, payload: dict[str, Any]) -> socket.socket:
    """Ask for a stream: the connected socket once the agent has agreed. Raises as `call` does."""
    body = json.dumps(payload).encode()
    path = f"/v1/{verb}"
    headers = signing.request_headers(peer.secret, peer.node_id, "POST", path, body)
    connection = _connection(peer, ANSWER_S)
    try:
        connection.request("POST", path, body, {**headers, "Connection": "Upgrade", "Upgrade": "plstack"})
        # By hand and unbuffered: what follows the head belongs to the stream.
        status, found, data = _read_head(connection.sock)
    except (OSError, http.client.HTTPException, ValueError) as error:
        connection.close()
        raise CannotSee(Said(Code.NODE_SILENT, {"error": type(error).__name__})) from error
    signature = found.get(signing.SIGNATURE.lower(), "")
    if status != http.HTTPStatus.SWITCHING_PROTOCOLS:
        connection.close()
        _understood(peer, headers[signing.NONCE], status, data, signature)
        raise CannotSee(Said(Code.NO_STREAM))
    _genuine(peer, headers[signing.NONCE], status, b"", signature)
    stream: socket.socket = connection.sock
    stream.settimeout(None)
    return stream


def _read_head(stream: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (names in lower case) and, unless it is an upgrade, the body."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = stream.recv(1)
        if not byte or len(head) > 65536:
            raise ValueError("no answer")
        head += byte
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status, body = int(first.split()[1]), b""
    left = int(headers.get("content-length", 0))
    while left > len(body):
        more = stream.recv(65536)
        if not more:
            break
        body += more
    return status, headers, body


def _connection(peer: Peer, timeout_s: float) -> http.client.HTTPConnection:
    """A connected one. Raises CannotSee, at once while the node rests after a failure."""
    with _lock:
        if _resting.get(peer.address, 0.0) > time.monotonic():
            raise CannotSee(Said(Code.NODE_RESTING))
    try:
        connection = _connect(peer)
    except (OSError, ValueError) as error:
        _rest(peer)
        raise CannotSee(Said(Code.NODE_UNREACHABLE, {"error": type(error).__name__})) from error
    connection.sock.settimeout(timeout_s)
    return connection


def _rest(peer: Peer) -> None:
    with _lock:
        _resting[peer.address] = time.monotonic() + PAUSE_S


def _connect(peer: Peer) -> http.client.HTTPConnection:
    url = urlsplit(peer.address)
    host, port = url.hostname or "", url.port or 0
    if url.scheme != "https":
        connection = http.client.HTTPConnection(host, port, timeout=CONNECT_S)
        connection.connect()
        return connection
    # Agents make their own certificates: the one that was told when the node joined is the one that counts.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    secure = http.client.HTTPSConnection(host, port, timeout=CONNECT_S, context=context)
    secure.connect()
    shown = secure.sock.getpeercert(binary_form=True) or b""
    if hashlib.sha256(shown).hexdigest() != peer.certificate:
        secure.close()
        raise ssl.SSLError("another certificate")
    return secure


def _understood(peer: Peer, nonce: str, status: int, data: bytes, signature: str | None) -> dict[str, Any]:
    _genuine(peer, nonce, status, data, signature or "")
    try:
        found: dict[str, Any] = json.loads(data)
    except ValueError as error:
        raise CannotSee(Said(Code.NODE_UNINTELLIGIBLE, {"error": "no JSON"})) from error
    if status != http.HTTPStatus.OK:
        raise codec.error_in(found)
    return found


def _genuine(peer: Peer, nonce: str, status: int, data: bytes, signature: str) -> None:
    try:
        signing.check_answer(peer.secret, nonce, status, data, signature)
    except signing.Forged as error:
        raise CannotSee(Said(Code.NODE_FORGED, {"error": str(error)})) from error
