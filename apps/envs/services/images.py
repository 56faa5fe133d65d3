"""Saving an environment as an image: what was installed in its home, pinned on top of its image."""

import re

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.services.shared import log, refuse_binned
from apps.registry import services as registry
from apps.registry.models import Image
from apps.storage.safe_open import items
from apps.storage.services import root_of

VENV = ".venv/lib"
INFO = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_]*)\.dist-info\Z")
# What the environment's own set-up put there.
OURS = frozenset({"pip", "setuptools", "wheel"})


def added(environment: Environment) -> list[str]:
    """Exact pins of what was installed on top of the image, read from the files alone: nothing inside is executed."""
    root = root_of(environment.home)
    try:
        versions = [item.path for item in items(root, VENV) if item.is_folder and item.name.startswith("python3")]
        entries = [entry for path in versions for entry in items(root, f"{path}/site-packages") if entry.is_folder]
    except (NotFound, FileNotFoundError):
        return []
    found = [INFO.match(entry.name) for entry in entries]
    pins = {match["name"]: f"{match['name']}=={match['version']}" for match in found if match}
    return sorted(pin for name, pin in pins.items() if registry.canonical(name) not in OURS)


def save(actor: Actor, environment: Environment, *, name: str, shared: bool = False) -> Image:
    """A personal image of what it runs on now. Raises `Invalid` where nothing was installed."""
    require_own(actor, environment)
    refuse_binned(environment)
    pins = added(environment)
    if not pins:
        raise Invalid(
            _("Nothing was installed on top of the image yet."),
            hint=_("Install with pip inside the environment, then save it as an image."),
        )
    image = registry.keep(actor, name=name, base=environment.image, added=pins, shared=shared)
    log(actor, environment, "saved_as_image", after={"image": image.key})
    return image
