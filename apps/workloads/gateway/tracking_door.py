"""The door from a sandbox to the platform's own address for metrics and artifacts: these paths, this server, no more.

Programs without any way out reach it on their loopback. What arrives is plain HTTP; the door names the host, says that
nobody could listen on the way, and lets one request pass for each connection.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings

from apps.common.outgoing import PinnedTarget
from apps.workloads.gateway.egress import Way
from apps.workloads.gateway.proxy import DROPPED, Refused, Request

PATHS = ("/api/2.0/mlflow/", "/api/2.0/mlflow-artifacts/", "/api/3.0/mlflow/", "/api/v1/tracking/")
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class OneTarget:
    """Always the same server: the web process, as the gateway reaches it."""

    address: str
    port: int

    def way(self, url: str, ports: Iterable[int] | None = None) -> Way:
        return Way(PinnedTarget(self.address, self.port, settings.TRACKING_HOST))


def target() -> OneTarget:
    host, _colon, port = settings.TRACKING_TARGET.rpartition(":")
    return OneTarget(host.strip("[]"), int(port))


def parse(head: bytes) -> Request:
    """Raises `Refused` for anything but a request to the paths of tracking."""
    line, *fields = head.decode("latin-1").split("\r\n")
    try:
        method, path, version = line.split(" ")
    except ValueError:
        raise Refused("400 Bad Request", "Only HTTP is spoken here.") from None
    allowed = path.startswith(PATHS) and ".." not in path and all("!" <= sign <= "~" for sign in path)
    if method not in METHODS or not version.startswith("HTTP/1.") or not allowed:
        raise Refused("403 Forbidden", "From here only metrics and artifacts can be logged and read.")
    own = (f"Host: {settings.TRACKING_HOST}", "X-Forwarded-Proto: https")
    return Request(f"http://{settings.TRACKING_HOST}{path}", method, path, (*own, *filter(_passes, fields)))


def _passes(field: str) -> bool:
    name = field.partition(":")[0].strip().lower()
    return bool(field) and name not in DROPPED and "forwarded" not in name
