"""Where what is built goes: a new version in a repository of the person's own, or of the organisation's.

Without a registry there is nowhere to go: the image stays on its machine. A version is never overwritten.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from apps.builds.models import Build
from apps.common.actor import Actor
from apps.common.errors import Denied, Invalid
from apps.registry.distribution.capacity import OverCapacity, capacity_of
from apps.registry.distribution.client import is_configured
from apps.registry.distribution.placing import place
from apps.registry.distribution.tags import free_tag
from apps.workloads.choices import LIVE


@dataclass(frozen=True, slots=True)
class Place:
    """`repository` without its host."""

    repository: str
    tag: str


NOWHERE = Place("", "")


def place_for(actor: Actor, *, name: str, version: int, tag: str = "", for_organisation: bool = False) -> Place:
    """`tag` empty: the build's number, or the next one that is free.

    Raises `Invalid` beside `name`, `tag` or `for_organisation`; `OverCapacity` where nothing more can be pushed.
    """
    if not is_configured():
        if tag.strip() or for_organisation:
            raise Invalid.field("tag", _("There is no image registry here: versions are numbered, and one's own."))
        return NOWHERE
    try:
        repository = place(actor, name.lower(), of_organisation=for_organisation)
    except Denied as error:
        words = _("Only who manages the organisation's images adds to them.")
        raise Invalid.field("for_organisation", words) from error
    capacity = capacity_of(actor.organisation())
    if not capacity.left:
        raise OverCapacity(capacity)
    return Place(repository.text, free_tag(repository.text, tag.strip(), version))


def coming_tags(repository: str) -> set[str]:
    """Of builds that go on. One of `settings.COMING_TAGS`."""
    coming = Build.objects.filter(repository=repository, workload__status__in=LIVE)
    return set(coming.values_list("tag", flat=True))
