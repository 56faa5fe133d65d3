"""Whether pip and npm reach where they download from: for the platform's installers, and for programs in a sandbox.

Standard library only. PEP 503 for the page of a project; npm's "package metadata" for the abbreviated form.
"""

import http.client
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import short_address
from apps.workloads.drivers.software_sources import DEFAULT_PORTS, SoftwareSources, bundle, of_machine

TIMEOUT_S = 8.0
PAGE_BYTES = 64 * 1024
# The first file that a page names, which may be on another host.
_FILE = re.compile(r"https?://[\w.:\[\]-]+/[^\s\"'<>#]*\.(?:whl|tar\.gz|tgz|zip)")
# Small packages that every mirror has.
_PAGES = {"pip": "wheel/", "npm": "wrappy"}
_ACCEPTS = {"pip": "text/html", "npm": "application/vnd.npm.install-v1+json"}


@dataclass(frozen=True, slots=True)
class Probe:
    """One address of `SoftwareSources.addresses`. `said`: why it cannot be used; None where it can, in `seconds`.

    `refused`: why programs in sandboxes cannot reach it; None where they can, or where there is no proxy to ask.
    """

    kind: str
    url: str
    seconds: float
    said: Said | None = None
    refused: Said | None = None

    def as_json(self) -> dict[str, Any]:
        said = {name: found and found.as_json() for name, found in (("said", self.said), ("refused", self.refused))}
        return {"kind": self.kind, "url": self.url, "seconds": round(self.seconds, 3), **said}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Probe":
        """Raises KeyError, TypeError or ValueError for what `as_json` did not write."""
        said = {name: Said.from_json(data[name]) if data.get(name) else None for name in ("said", "refused")}
        return cls(str(data["kind"]), str(data["url"]), float(data["seconds"]), **said)


def probe(chosen: SoftwareSources, home: Path, way_out: Path) -> list[Probe]:
    """Ask each address as an installer would, and the proxy at the socket `way_out` as a program would.

    What is not chosen is as this machine is set. `home`: where certificates are kept. Raises OSError.
    """
    sources = chosen.over(of_machine())
    opener = _opener(sources, bundle(sources, home))
    return [_probe(kind, url, opener, way_out) for kind, url in sources.addresses]


def _opener(sources: SoftwareSources, trusted: str) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context(cafile=trusted or None)
    handlers: list[urllib.request.BaseHandler] = [urllib.request.HTTPSHandler(context=context)]
    if sources.proxy:
        handlers.append(urllib.request.ProxyHandler({"http": sources.proxy, "https": sources.proxy}))
    return urllib.request.build_opener(*handlers)


def _probe(kind: str, url: str, opener: urllib.request.OpenerDirector, way_out: Path) -> Probe:
    begun = time.monotonic()
    said, page = _asked(kind, url, opener)
    seconds = time.monotonic() - begun
    file = _FILE.search(page)
    refused = _refusal(url, way_out) or (_refusal(file[0], way_out) if file else None)
    return Probe(kind, url, seconds, said, refused)


def _asked(kind: str, url: str, opener: urllib.request.OpenerDirector) -> tuple[Said | None, str]:
    """Why it cannot be used, and the beginning of what it answers."""
    page = f"{url.rstrip('/')}/{_PAGES[kind]}"
    request = urllib.request.Request(page, headers={"Accept": _ACCEPTS[kind]})  # noqa: S310  the operator's own address
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            return None, answer.read(PAGE_BYTES).decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return Said(Code.SOURCE_ANSWERS, {"url": page, "status": error.code}), ""
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        return Said(Code.SOURCE_UNREACHABLE, {"url": page, "error": str(reason)[:200]}), ""


def _refusal(url: str, way_out: Path) -> Said | None:
    parts = urlsplit(url)
    where = f"{parts.hostname}:{parts.port or DEFAULT_PORTS.get(parts.scheme, 443)}"
    try:
        with socket.socket(socket.AF_UNIX) as proxy, short_address(way_out) as address:
            proxy.settimeout(TIMEOUT_S)
            proxy.connect(address)
            proxy.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n\r\n".encode())
            line = proxy.recv(4096).partition(b"\r\n")[0].decode("latin-1")
    except TimeoutError:
        return Said(Code.SOURCE_REFUSED_INSIDE, {"host": where, "answer": "504"})
    except OSError:
        return None  # nobody leads out here
    answer = line.partition(" ")[2]
    return (
        None if answer.startswith("200") else Said(Code.SOURCE_REFUSED_INSIDE, {"host": where, "answer": answer[:200]})
    )
