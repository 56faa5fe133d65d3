"""What container images are for: their registries are asked, and an image that is only for ARM64 goes nowhere else."""

import logging
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from apps.clusters.architectures import kernel_names
from apps.common import nudges
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry.models import Image
from apps.workloads.drivers.local.oci.pull import Job, Pull, PullFailed
from apps.workloads.references import Reference

log = logging.getLogger(__name__)
# A registry that does not answer is given up on after minutes: so many in one go keep no worker for long.
AT_ONCE = 4
TASK = "registry.read_platforms"


def ask_soon(reference: str) -> None:
    """After commit. A request that is lost is made up for by the sweep."""
    if reference:
        transaction.on_commit(_send, robust=True)


def _send() -> None:
    nudges.send(TASK, expires_s=60)


def read_platforms(actor: Actor) -> int:
    """Ask for the images of which it is not known; how many were answered. The others are asked again later."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    due = Image.objects.filter(platforms_read_at__isnull=True, active=True).exclude(reference="").order_by("?")
    return sum(_read(image) for image in due[:AT_ONCE])


def _read(image: Image) -> bool:
    try:
        found = kernel_names(_pull(image.reference).platforms())
    except (PullFailed, OSError) as error:
        log.info("platforms of %s: %s", image.reference, error)
        return False
    # Unless another image was named meanwhile. One that names no architecture at all keeps what it was said to be for.
    told = {"architectures": found} if found else {}
    same = Image.objects.filter(pk=image.pk, reference=image.reference)
    return bool(same.update(**told, platforms_read_at=Now()))


def _pull(reference: str) -> Pull:
    home = Path(settings.PLSTACK_HOME)
    return Pull(Job(Reference.parse(reference), home, settings.IMAGE_PULL_RULES), lambda *_: None)
