"""Images that machines keep because runs were saved as them: what rows name stays, the rest is removed.

Whoever saves writes the row that names the image at once. Whoever removes leaves alone what was saved, or saved again,
in the last two minutes.
"""

import logging
from collections.abc import Callable, Collection
from typing import TypeAlias

from django.conf import settings
from django.db.models.functions import Right
from django.utils.module_loading import import_string

from apps.registry.choices import OPEN_SAVINGS
from apps.registry.distribution import uses
from apps.registry.models import PUSHED, Image, ImageSaving
from apps.registry.repositories import MAX_DIGEST
from apps.workloads import reach
from apps.workloads.drivers.base import DriverError

UNNAMED_S = 120.0
"""How long an image may be there before a row names it."""
log = logging.getLogger(__name__)

NamedLayouts: TypeAlias = Callable[[], set[str]]
"""Digests that rows of another app name; `settings.NAMED_LAYOUTS` lists who knows some."""


def sweep(older_than_s: float = UNNAMED_S) -> int:
    """Remove what no row names; how many. Call in the platform's scope."""
    removed = 0
    for machine in reach.machines_that_keep_images():
        try:
            there = set(machine.saved_images(older_than_s))
            for digest in sorted(there - named(there)):
                removed += machine.drop_image(digest, older_than_s)
        except DriverError as error:
            log.warning("images that nobody names were not removed: %s", error)
    return removed


def named(digests: Collection[str]) -> set[str]:
    """Those that somebody needs: images that stay on their machine, and what is on its way into the registry."""
    if not digests:
        return set()
    wanted = set(digests)
    rows = Image.objects.exclude(reference="").exclude(key__startswith=PUSHED)
    images = rows.annotate(digest=Right("reference", MAX_DIGEST)).filter(digest__in=wanted)
    found = {image.reference.partition("@")[2] for image in images if image.active or _is_used(image)}
    coming = ImageSaving.objects.filter(status__in=sorted(OPEN_SAVINGS)).exclude(image="")
    found |= {each.partition("@")[2] for each in coming.values_list("image", flat=True)}
    finders: list[NamedLayouts] = list(map(import_string, settings.NAMED_LAYOUTS))
    return wanted & found.union(*(find() for find in finders))


def _is_used(image: Image) -> bool:
    """Of one that its owner removed from the picker: what chose it before keeps it."""
    repository, _at, digest = image.reference.partition("@")
    return bool(uses.uses_of(uses.Images(repository, frozenset({digest}))))
