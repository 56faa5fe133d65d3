"""Save an environment as an image: its image plus pins of what was installed in its home.

Of one in a container image, what was changed in the image's own files becomes a layer, while it runs; that image goes
into the registry where there is one, and stays on its machine where there is none.
"""

import re

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.services.shared import log, refuse_binned
from apps.registry import services as registry
from apps.registry.distribution.client import is_configured
from apps.registry.models import Image, ImageSaving
from apps.registry.saving import services as saving
from apps.registry.saving.services import NewSaving
from apps.storage.safe_open import list_folder
from apps.storage.services import root_of
from apps.workloads import reach
from apps.workloads.models import Workload

VENV = ".venv/lib"
INFO = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_]*)\.dist-info\Z")
# What the environment's own set-up put there.
OURS = frozenset({"pip", "setuptools", "wheel"})


def installed_packages(environment: Environment) -> list[str]:
    """Exact pins of what was installed on top of the image, read from files only: nothing inside is executed."""
    root = root_of(environment.home)
    try:
        versions = [item.path for item in list_folder(root, VENV) if item.is_folder and item.name.startswith("python3")]
        entries = [
            entry for path in versions for entry in list_folder(root, f"{path}/site-packages") if entry.is_folder
        ]
    except (NotFound, FileNotFoundError):
        return []
    found = [INFO.match(entry.name) for entry in entries]
    pins = {match["name"]: f"{match['name']}=={match['version']}" for match in found if match}
    return sorted(pin for name, pin in pins.items() if registry.normalize_package_name(name) not in OURS)


def goes_into_registry(environment: Environment) -> bool:
    """Whether `save_in_registry` saves it, and not `save`."""
    return bool(environment.image.reference) and is_configured()


def save_in_registry(actor: Actor, environment: Environment, new: NewSaving) -> ImageSaving:
    """Ask for it: its machine writes the image within seconds and sends it, also while it is being stopped.

    Raises `Invalid` beside the fields, `Conflict` while it does not run or is being saved, `OverCapacity`.
    """
    require_own(actor, environment)
    refuse_binned(environment)
    if not goes_into_registry(environment):
        raise Invalid(_("Only an environment in a container image becomes an image in the registry."))
    return saving.save(actor, _running(environment), new)


def _running(environment: Environment) -> Workload:
    workload = environment.workload
    if workload is None or not workload.is_live:
        raise Conflict(
            _("The image's files are there to be saved only while it runs."),
            hint=_("Start it, make the changes, then save it before it is stopped."),
        )
    return workload


def _save_container(actor: Actor, environment: Environment, *, name: str, shared: bool) -> Image:
    registry.refuse_container_image(actor, name=name)
    reference = reach.save_image(actor, _running(environment))
    image = registry.create_container_image(
        actor, name=name, base=environment.image, reference=reference, shared=shared
    )
    log(actor, environment, "saved_as_image", after={"image": image.key, "digest": reference.digest})
    return image


def save(actor: Actor, environment: Environment, *, name: str, shared: bool = False) -> Image:
    """A personal image of its present packages; without a registry also of the container that it runs in, as it is now.

    Raises `Invalid` if nothing was installed; of a container `Conflict` while it does not run, and where nothing was
    changed or it cannot be saved, in words of its own.
    """
    require_own(actor, environment)
    refuse_binned(environment)
    if goes_into_registry(environment):
        raise Invalid(_("Say which repository of the registry it is to go into."))
    if environment.image.reference:
        return _save_container(actor, environment, name=name, shared=shared)
    pins = installed_packages(environment)
    if not pins:
        raise Invalid(
            _("Nothing was installed on top of the image yet."),
            hint=_("Install with pip inside the environment, then save it as an image."),
        )
    image = registry.create_personal_image(actor, name=name, base=environment.image, added=pins, shared=shared)
    log(actor, environment, "saved_as_image", after={"image": image.key})
    return image
