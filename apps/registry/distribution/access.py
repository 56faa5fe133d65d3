"""Who may do what with a repository: asked for each token, for each page, and when a run starts."""

from enum import StrEnum

from django.conf import settings

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry import selectors
from apps.registry.distribution.names import RepositoryName, organisation_named, person_named
from apps.registry.models import ImageRepository
from apps.registry.sharing import rights


class Action(StrEnum):
    """What distribution's token specification calls actions on a repository."""

    PULL = "pull"
    PUSH = "push"
    DELETE = "delete"


NOTHING: frozenset[Action] = frozenset()
EVERYTHING = frozenset(Action)


def allowed_actions(actor: Actor, name: RepositoryName) -> frozenset[Action]:
    """What the actor may do there, whether the repository exists or not. Call it inside `acting(actor)`.

    Of another organisation's repositories only those that it shares with the actor's, and what an image that the
    platform offers to the actor is pulled from.
    """
    if actor.organisation_id is None or Permission.IMAGES_USE not in actor.permissions:
        return NOTHING
    organisation = organisation_named(name.organisation)
    if organisation is None or organisation.pk != actor.organisation_id:
        return _from_outside(actor, name)
    manages = Permission.IMAGES_MANAGE in actor.permissions
    if not name.person:
        return EVERYTHING if manages else frozenset({Action.PULL})
    if _owner_id(name) == actor.user_id:
        return EVERYTHING
    if manages:
        return frozenset({Action.PULL, Action.DELETE})
    shared = ImageRepository.objects.filter(name=name.text, organisation_id=organisation.pk, shared=True).exists()
    return frozenset({Action.PULL}) if shared else _offered(actor, name)


def _owner_id(name: RepositoryName) -> int | None:
    owner = person_named(name.person)
    return None if owner is None else owner.pk


def _from_outside(actor: Actor, name: RepositoryName) -> frozenset[Action]:
    if rights.is_received(actor.organisation_id, name.text):
        return frozenset({Action.PULL})
    return _offered(actor, name)


def _offered(actor: Actor, name: RepositoryName) -> frozenset[Action]:
    images = selectors.images(actor, containers=True).filter(organisation__isnull=True)
    offered = images.filter(reference__startswith=f"{settings.REGISTRY_HOST}/{name.text}@").exists()
    return frozenset({Action.PULL}) if offered else NOTHING
