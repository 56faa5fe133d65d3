"""Talking HTTP to programs inside an environment over their Unix sockets. What they answer is a stranger's word."""

import http.client
import json
from collections.abc import Mapping
from typing import Any

from apps.workloads.drivers.sockets import Endpoint, connected

TIMEOUT_S = 4.0
MAX_ANSWER = 1 << 20


class Unreachable(Exception):
    """No answer, or none that can be read."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self.endpoint = endpoint

    def connect(self) -> None:
        self.sock = connected(self.endpoint, self.timeout)


def ask(
    endpoint: Endpoint, method: str, path: str, content: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT_S
) -> tuple[int, Any]:
    """Status and JSON of one request; raises `Unreachable`."""
    connection = _Connection(endpoint, timeout)
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
        connection.close()
