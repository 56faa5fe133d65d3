"""Where a build of one of the platform's recipes begins: its Containerfile, on a base that may be built on here."""

from collections.abc import Iterable

from apps.registry.models import Image
from apps.registry.recipes.recipe import DEBIAN_BASE, PYTHON_BASE, UBUNTU_BASE, Recipe

# How images are called that do for a recipe's base, beside its own name.
ALIKE = {
    PYTHON_BASE: ("python:3.11", "python 3.11", "python-3.11"),
    DEBIAN_BASE: ("debian:trixie", "debian:13", "debian 13", "debian-13", "debian trixie"),
    UBUNTU_BASE: ("ubuntu:24.04", "ubuntu 24.04", "ubuntu-24.04", "ubuntu noble", "ubuntu:noble"),
}


def base_for(recipe: Recipe, bases: Iterable[Image]) -> str | None:
    """What FROM has to name: the recipe's own base, if an image on offer is called so, else one like it by its digest.

    None where there is neither.
    """
    alike = []
    for image in bases:
        name = image.name.casefold()
        if name == recipe.base:
            return recipe.base
        if name.startswith(ALIKE[recipe.base]):
            alike.append(image.reference)
    return alike[0] if alike else None
