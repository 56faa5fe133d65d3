"""Runs, forms and what pages say, for training's tests."""

from typing import Any
from uuid import uuid4

from django.urls import reverse

from apps.audit.models import Entry as AuditEntry
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.training import services
from apps.training.models import Entry, Run
from apps.workloads.models import Workload
from tests.builders import World, platform

PROGRAM = "print('hello')\n"


def request_for(world: World, **changes: Any) -> services.Request:
    """A request that would be accepted, but for `changes`."""
    values: dict[str, Any] = {
        "name": "digits",
        "image_id": world.image.pk,
        "package_id": world.package.pk,
        "entry": Entry.PYTHON,
        "script": "train.py",
        "key": uuid4().hex,
        "text": PROGRAM,
    }
    return services.Request(**{**values, **changes})


def submit(world: World, actor: Actor | None = None, **changes: Any) -> Run:
    actor = actor or world.actor
    with acting(actor):
        return services.submit(actor, request_for(world, **changes))


def form_for(world: World, **changes: Any) -> dict[str, Any]:
    """What a browser posts for a run that would be accepted, but for `changes`."""
    values = {
        "name": "digits",
        "image": str(world.image.pk),
        "package": str(world.package.pk),
        "source": "write",
        "text": PROGRAM,
        "entry": "python",
        "script": "train.py",
        "key": uuid4().hex,
        "arguments_key": ["--epochs"],
        "arguments_value": ["20"],
    }
    return {**values, **changes}


def body_for(world: World, **changes: Any) -> dict[str, Any]:
    """The same for the API."""
    values = {
        "name": "digits",
        "image": str(world.image.pk),
        "package": world.package.pk,
        "entry": "python",
        "script": "train.py",
        "text": PROGRAM,
        "arguments": [["--epochs", "20"]],
    }
    return {**values, **changes}


def text(response: Any) -> str:
    content: bytes = response.content
    return content.decode()


def counts() -> tuple[int, int, int]:
    with acting(platform()):
        return Run.objects.count(), Workload.objects.count(), AuditEntry.objects.count()


def url(name: str, run: Run, *args: str) -> str:
    return reverse(f"training:{name}", args=[run.pk, *args])
