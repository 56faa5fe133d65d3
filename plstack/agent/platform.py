"""The agent's requests to the platform: join and heartbeat."""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apps.clusters.discovery import measure_machine
from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.local import gang_ability
from apps.workloads.drivers.local.dataset_cache import DatasetCache
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.gang_ability import address_towards
from apps.workloads.drivers.remote import signing
from plstack.agent import storage_probe
from plstack.agent.identity import AgentError, Identity
from plstack.agent.storage import Prober

JOIN, BEAT = "/api/v1/agents/join/", "/api/v1/agents/beat/"
TIMEOUT_S = 15.0


class Refused(AgentError):
    """The platform does not know this machine (any more), or rejects it."""


def join(server: str, via: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Join the platform. Raises Refused with the platform's message, AgentError when it cannot be reached."""
    return _post(server, via, JOIN, json.dumps(payload).encode(), {})


def send_heartbeat(identity: Identity, home: Path, driver: LocalDriver, prober: Prober) -> dict[str, Any]:
    """Report the machine's resources and state, and the attempts that have not ended."""
    address = identity.network_address or address_towards(identity.via or identity.server)
    seen = prober.report()
    # Whoever asks a mount that hangs for its room hangs with it.
    disk = home if seen["problem"] == storage_probe.HANGS else Path(identity.data)
    report = machine_report(disk, driver, address, seen)
    kept = {"dataset_cache": DatasetCache(home).report()}
    body = json.dumps({**report, **kept, "refs": unfinished_attempts(driver)}).encode()
    secret = bytes.fromhex(identity.secret)
    headers = signing.request_headers(secret, identity.node_id, "POST", BEAT, body)
    return _post(identity.server, identity.via, BEAT, body, headers)


def machine_report(disk: Path, driver: LocalDriver, network_address: str, seen: dict[str, Any]) -> dict[str, Any]:
    """The machine as JSON: its resources, load and isolation, how it can join others for a gang, and `seen` of its
    storage. `disk`: on the disk that is measured."""
    isolation = driver.isolation()
    return {
        "machine": asdict(measure_machine(disk)),
        "isolation": isolation.level.value,
        "isolation_reason": isolation.reason,  # for a platform that knows no codes
        "isolation_said": [said.as_json() for said in isolation.said],
        "gang_network": gang_ability.find(isolation, network_address).as_json(),
        "storage": seen,
    }


def unfinished_attempts(driver: LocalDriver) -> list[str]:
    """Attempts that have not been proved to have ended."""
    found = []
    for ref in driver.known():
        try:
            over = driver.observe(Handle(driver.name, "", ref)).phase.is_final
        except DriverError:  # not observable now does not prove that it ended
            over = False
        if not over:
            found.append(ref)
    return found


def _post(server: str, via: str, path: str, body: bytes, headers: dict[str, str]) -> dict[str, Any]:
    """Post to `server`, or to `via` with `server`'s host and scheme in headers, as the proxy in front would."""
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
        raise Refused(_error_text(error)) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise AgentError(f"{via or server} does not answer: {error}") from error


def _error_text(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.load(error)
        return " ".join(filter(None, [problem.get("detail"), problem.get("hint")])) or str(error)
    except (ValueError, AttributeError):
        return f"The platform answered {error.code}"
