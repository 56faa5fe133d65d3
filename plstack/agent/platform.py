"""What an agent says to the platform: that it wants to join, and that it is alive."""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apps.clusters.discovery import look
from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote import signing
from plstack.agent.identity import Identity, Unfit

JOIN, BEAT = "/api/v1/agents/join/", "/api/v1/agents/beat/"
TIMEOUT_S = 15.0


class Refused(Unfit):
    """The platform does not know this machine (any more), or does not want it."""


def join(server: str, via: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused with the platform's words, Unfit when it cannot be reached."""
    return _post(server, via, JOIN, json.dumps(payload).encode(), {})


def beat(identity: Identity, home: Path, driver: LocalDriver) -> dict[str, Any]:
    """Tell what the machine has, how it is, and which attempts live here."""
    body = json.dumps({**described(Path(identity.data), driver), "refs": living(driver)}).encode()
    secret = bytes.fromhex(identity.secret)
    headers = signing.request_headers(secret, identity.node_id, "POST", BEAT, body)
    return _post(identity.server, identity.via, BEAT, body, headers)


def described(data: Path, driver: LocalDriver) -> dict[str, Any]:
    """The machine as JSON: what it has, its load, how it isolates."""
    isolation = driver.isolation()
    return {
        "machine": asdict(look(data)),
        "isolation": isolation.level.value,
        "isolation_reason": isolation.reason,  # for a platform that knows no codes
        "isolation_said": [said.as_json() for said in isolation.said],
    }


def living(driver: LocalDriver) -> list[str]:
    """Attempts that have not been proved to have ended."""
    found = []
    for ref in driver.known():
        try:
            over = driver.observe(Handle(driver.name, "", ref)).phase.is_final
        except DriverError:  # it cannot be seen now, which is no end
            over = False
        if not over:
            found.append(ref)
    return found


def _post(server: str, via: str, path: str, body: bytes, headers: dict[str, str]) -> dict[str, Any]:
    """To `server`, or to `via` as the proxy in front of it would: the same host and scheme, told by headers."""
    told = {"Content-Type": "application/json"}
    if via:
        scheme, host, *_rest = urlsplit(server)
        told |= {"Host": host, "X-Forwarded-Proto": scheme}
    request = urllib.request.Request(  # noqa: S310 - the operator's own address, http or https
        (via or server).rstrip("/") + path, data=body, headers={**headers, **told}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            found: dict[str, Any] = json.load(response)
            return found
    except urllib.error.HTTPError as error:
        raise Refused(_words(error)) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unfit(f"{via or server} does not answer: {error}") from error


def _words(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.load(error)
        return " ".join(filter(None, [problem.get("detail"), problem.get("hint")])) or str(error)
    except (ValueError, AttributeError):
        return f"The platform answered {error.code}"
