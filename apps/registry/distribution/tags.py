"""The tag under which an image that is made here goes into a repository: one's own choice, or the next number."""

from collections.abc import Callable
from typing import TypeAlias

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.registry.choices import OPEN_SAVINGS, OPEN_TRANSFERS
from apps.registry.distribution.placing import require_tag
from apps.registry.models import ImageSaving, ImageTag, ImageTransfer

ComingTags: TypeAlias = Callable[[str], set[str]]
"""Tags that images on their way into this repository will have; `settings.COMING_TAGS` names who else knows some."""


def free_tag(repository: str, tag: str, version: int = 0) -> str:
    """`tag` empty: the first number from `version` on that is free; without `version`, after the highest one.

    Raises `Invalid` beside `tag`: it is no tag, or the version is there already or on its way.
    """
    taken = taken_tags(repository)
    if not tag:
        version = version or 1 + max((int(each) for each in taken if each.isdecimal() and len(each) < 10), default=0)
        while str(version) in taken:
            version += 1
        return str(version)
    if require_tag(tag) in taken:
        words = _("There is a version %(tag)s already, and versions are not overwritten. Choose another tag.")
        raise Invalid.field("tag", words % {"tag": tag})
    return tag


def taken_tags(repository: str) -> set[str]:
    """Those that are there, and those that are on their way."""
    coming = {"repository_name": repository}
    taken = set(ImageTag.objects.filter(repository__name=repository).values_list("name", flat=True))
    for model, open_ones in ((ImageTransfer, OPEN_TRANSFERS), (ImageSaving, OPEN_SAVINGS)):
        taken |= set(model.objects.filter(**coming, status__in=sorted(open_ones)).values_list("tag", flat=True))
    finders: list[ComingTags] = list(map(import_string, settings.COMING_TAGS))
    return taken.union(*(find(repository) for find in finders))
