"""The image of a build on its way into the registry, in its owner's name and with the rights that they have now."""

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.builds.models import Build
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.registry.distribution import bearer, recording
from apps.registry.distribution.access import Action, allowed_actions
from apps.registry.distribution.bearer import Grant
from apps.registry.distribution.client import Client
from apps.registry.distribution.names import RepositoryName, repository_of_ours
from apps.registry.distribution.offering import key_of
from apps.registry.models import Image, ImageTag
from apps.tenants.actors import organisation_actor
from apps.workloads import reach
from apps.workloads.drivers.base import Progress
from apps.workloads.drivers.images import Destination
from apps.workloads.references import Reference

LIFETIME_S = 6 * 3600
"""Of the token: as long as a build may go on sending."""


def push(actor: Actor, build: Build, image: Reference) -> Image | Progress:
    """One turn: the pushed image, or how far it is. `actor`: the system.

    Raises `DomainError` (the owner may not any more, the version was pushed by somebody else), `DriverError`.
    """
    target = Reference(f"{settings.REGISTRY_HOST}/{build.repository}", image.digest)
    if build.sending is None:
        _refuse_taken(build, image)
    progress = reach.push_image_of(
        build.workload, image, Destination(target.repository, build.tag, _token(build, image))
    )
    if progress is not None:
        return progress
    with Client() as client:
        recording.pushed(client, build.repository, build.tag, image.digest, build.owner.username)
    tag = ImageTag.objects.filter(repository__name=build.repository, name=build.tag).first()
    found = None if tag is None else Image.objects.filter(key=key_of(tag), reference=target.name).first()
    if found is None:  # somebody deleted it, or pushed over it, in this very moment
        raise _taken(build)
    return found


def _refuse_taken(build: Build, image: Reference) -> None:
    with Client() as client:
        there = client.manifest(build.repository, build.tag)
    if there is not None and there.digest != image.digest:
        raise _taken(build)


def _taken(build: Build) -> Conflict:
    words = _("Somebody has pushed a version %(tag)s of it meanwhile, and versions are not overwritten.")
    return Conflict(words % {"tag": build.tag}, hint=_("Build it again with another tag."))


def _token(build: Build, image: Reference) -> str:
    """Pushes to this repository, and pulls from that of the base, as the owner may now."""
    owner = organisation_actor(build.owner, build.organisation_id)
    wanted = {build.repository: frozenset({Action.PULL, Action.PUSH})}
    base = repository_of_ours(image)
    if base is not None:
        wanted.setdefault(base.text, frozenset({Action.PULL}))
    with acting(owner):
        grants = [
            Grant(
                name, frozenset(action.value for action in actions & allowed_actions(owner, RepositoryName.parse(name)))
            )
            for name, actions in wanted.items()
        ]
    return bearer.issue(build.owner.username, grants, LIFETIME_S)
