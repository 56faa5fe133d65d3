"""One HTTP request of the platform's own to a replica: a health check, a smoke request, the test page's."""

import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass

from apps.workloads.drivers.sockets import Endpoint, connected

CONNECT_S = 3.0
MOST_ANSWER = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """`body`: up to `MOST_ANSWER` bytes of it. `took_ms`: until the last of these."""

    status: int
    content_type: str
    body: bytes
    took_ms: float

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class NoAnswer(Exception):
    """The replica could not be reached, broke off, or took too long."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        super().__init__("service", timeout=timeout_s)
        self.endpoint, self.timeout_s = endpoint, timeout_s

    def connect(self) -> None:
        self.sock = connected(self.endpoint, CONNECT_S)
        self.sock.settimeout(self.timeout_s)


def ask(
    endpoint: Endpoint,
    method: str,
    path: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float,
) -> Answer:
    """`timeout_s`: for each step of the exchange. Raises `NoAnswer`."""
    began = time.monotonic()
    connection = _Connection(endpoint, timeout_s)
    try:
        connection.request(method, path, body, {"Connection": "close", **(headers or {})})
        response = connection.getresponse()
        read = response.read(MOST_ANSWER)
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswer(str(error) or type(error).__name__) from error
    finally:
        connection.close()
    kind = response.getheader("Content-Type") or ""
    return Answer(response.status, kind, read, (time.monotonic() - began) * 1000)
