"""Runs and forms for training's tests."""

from typing import Any
from uuid import uuid4

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.training import services
from apps.training.models import Entry, Run
from tests.builders import World

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
