"""HTTP to programs inside an environment over their Unix sockets. Their answers are not trusted."""

import http.client
import json
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from apps.workloads.drivers.sockets import Endpoint, connected

# Timeout of each step; the whole may take a multiple, because a program may answer a byte at a time.
TIMEOUT_S = 4.0
STEPS = 3
MAX_ANSWER = 1 << 20


class Unreachable(Exception):
    """No answer, or an unreadable one."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self.endpoint = endpoint
        self.wire: socket.socket | None = None

    def connect(self) -> None:
        self.wire = self.sock = connected(self.endpoint, self.timeout)


def request_json(
    endpoint: Endpoint, method: str, path: str, content: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT_S
) -> tuple[int, Any]:
    """Status and JSON of one request; raises `Unreachable`."""
    connection = _Connection(endpoint, timeout)
    cut = threading.Timer(STEPS * timeout, _abort, [connection])
    cut.daemon = True
    cut.start()
    try:
        body = json.dumps(content).encode() if content is not None else None
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        data = answer.read(MAX_ANSWER + 1)
        if len(data) > MAX_ANSWER:
            raise Unreachable("the answer is too long")
        return answer.status, json.loads(data or b"null")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(str(error)) from error
    finally:
        cut.cancel()
        connection.close()


def _abort(connection: _Connection) -> None:
    """Shut the connection down, so that a blocked read returns."""
    with suppress(OSError):
        if connection.wire is not None:  # `sock` is None already while the last bytes are awaited
            connection.wire.shutdown(socket.SHUT_RDWR)
