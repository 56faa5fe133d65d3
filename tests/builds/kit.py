"""Builds for tests."""

from typing import Any
from uuid import UUID, uuid4

from apps.builds import services
from apps.builds.models import Build
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.workloads.launching.request import Launch
from tests.builders import World

NO_IMAGE = UUID(int=0)
REFERENCE = f"registry.lab:5000/team/debian@sha256:{'a' * 64}"


def debian_image() -> Image:
    """A container image of the platform's, for everybody. Call in the platform's scope."""
    names = {"name": "Debian 12", "description_en": "Debian", "description_zh": "Debian"}
    found: Image = Image.objects.get_or_create(key="debian", defaults={**names, "reference": REFERENCE})[0]
    return found


def build(world: World, text: str, *, actor: Actor | None = None, files: UUID | None = None, **changes: Any) -> Build:
    """One that is queued, but for `changes` of what was asked."""
    actor = actor or world.actor
    asked: dict[str, Any] = {
        "name": "tools",
        "image_id": NO_IMAGE,
        "package_id": world.package.pk,
        "key": uuid4().hex,
        **changes,
    }
    order = {name: asked.pop(name) for name in ("tag", "for_organisation", "target", "without_cache") if name in asked}
    with acting(actor):
        return services.submit(actor, services.Order(text, files, **order), Launch(**asked))
