"""What the registry tells: distribution's notifications, which say which repository to read again."""

import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.common.access import PUBLIC, requires
from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.registry.distribution import recording
from apps.registry.distribution.client import Client, RegistryAway
from apps.workloads.drivers.local.oci import manifest as oci

SECRET = "registry_events"  # noqa: S105  the name of a file
MOST_BYTES = 2 * 1024 * 1024
MANIFESTS = frozenset((*oci.MANIFESTS, *oci.INDEXES))


@dataclass(frozen=True, slots=True)
class Event:
    """A manifest that somebody pushed, or deleted (`deleted`). `reference`: its tag, else its digest."""

    repository: str
    reference: str
    digest: str
    actor: str = ""
    deleted: bool = False


@csrf_exempt
@requires(PUBLIC)
@require_POST
def hear(request: HttpRequest) -> HttpResponse:
    """Only for who knows the secret. 503 while the registry cannot be read: it tells again."""
    if not _is_ours(request.headers.get("Authorization", "")):
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED)
    if int(request.headers.get("Content-Length") or 0) > MOST_BYTES:
        return HttpResponse(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    try:
        events = list(parse(request.body))
    except ValueError:
        return HttpResponse(status=HTTPStatus.BAD_REQUEST)
    if not events:
        return HttpResponse(status=HTTPStatus.OK)
    try:
        with Client() as client, acting(system_actor()):
            for event in events:
                if event.deleted:
                    recording.read_again(client, event.repository, event.actor)
                else:
                    recording.pushed(client, event.repository, event.reference, event.digest, event.actor)
    except RegistryAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    return HttpResponse(status=HTTPStatus.OK)


def parse(body: bytes) -> Iterable[Event]:
    """Events about manifests, in their order; others are left out. Raises ValueError."""
    try:
        envelope = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(envelope, dict) or not isinstance(envelope.get("events"), list):
        raise ValueError("no list of events")
    return [event for each in envelope["events"] if (event := _event(each)) is not None]


def _event(about: Any) -> Event | None:
    target = about.get("target") if isinstance(about, dict) else None
    if not isinstance(target, dict):
        return None
    repository, digest, tag = (_text(target, key) for key in ("repository", "digest", "tag"))
    if not repository:
        return None
    actor = about.get("actor")
    who = _text(actor, "name") if isinstance(actor, dict) else ""
    if about.get("action") == "delete":
        return Event(repository, tag or digest, digest, who, deleted=True)
    if about.get("action") != "push" or _text(target, "mediaType") not in MANIFESTS or not (tag or digest):
        return None
    return Event(repository, tag or digest, digest, who)


def _text(about: dict[str, Any], key: str) -> str:
    found = about.get(key)
    return found if isinstance(found, str) and len(found) <= 300 and found.isprintable() else ""


def _is_ours(authorization: str) -> bool:
    try:
        secret = (Path(settings.PLSTACK_HOME) / "secrets" / SECRET).read_text().strip()
    except OSError:
        return False
    return bool(secret) and hmac.compare_digest(authorization.encode(), f"Bearer {secret}".encode())
