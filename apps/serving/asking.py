"""One HTTP request of the platform's own to a replica: a health check, a smoke request, the test page's."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from apps.workloads.drivers.sockets import Endpoint, connected

CONNECT_S = 3.0
MOST_ANSWER = 1024 * 1024
TOO_LONG = "it took too long"


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
    """One exchange with a program that may do anything: cut off after so many seconds, whatever comes meanwhile."""

    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        super().__init__("service", timeout=timeout_s)
        self.endpoint, self.timeout_s = endpoint, timeout_s
        self.is_cut = False
        self.timer = threading.Timer(timeout_s, self._cut)
        self.timer.daemon = True

    def connect(self) -> None:
        self.sock = connected(self.endpoint, min(CONNECT_S, self.timeout_s))
        self.sock.settimeout(self.timeout_s)
        self.plain = self.sock
        self.timer.start()

    def _cut(self) -> None:
        """Wakes whoever reads. A timeout of the socket alone would begin anew with each byte."""
        self.is_cut = True
        with contextlib.suppress(OSError):
            self.plain.shutdown(socket.SHUT_RDWR)


def ask(
    endpoint: Endpoint,
    method: str,
    path: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float,
) -> Answer:
    """`timeout_s`: for the whole exchange. Raises `NoAnswer`."""
    began = time.monotonic()
    connection = _Connection(endpoint, timeout_s)
    try:
        connection.request(method, path, body, {"Connection": "close", **(headers or {})})
        response = connection.getresponse()
        read = response.read(MOST_ANSWER)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise NoAnswer(TOO_LONG if connection.is_cut else str(error) or type(error).__name__) from error
    finally:
        connection.timer.cancel()  # not in `close`, which `getresponse` calls before the body is read
        connection.close()
    if connection.is_cut:
        raise NoAnswer(TOO_LONG)
    kind = response.getheader("Content-Type") or ""
    return Answer(response.status, kind, read, (time.monotonic() - began) * 1000)
