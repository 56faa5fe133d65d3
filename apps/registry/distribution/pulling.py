"""Pulling for a run: whether its owner may, and the token of its own with which its machine does."""

from apps.common.actor import Actor, Channel
from apps.common.scoping import acting
from apps.registry.distribution import bearer
from apps.registry.distribution.access import Action, allowed_actions
from apps.registry.distribution.names import organisation_named, repository_of_ours
from apps.workloads.start_rights import ImageRequest, Pull

LIFETIME_S = 3600


def may_pull(request: ImageRequest) -> Pull:
    """For images of this registry; those of others are not guarded here."""
    name = repository_of_ours(request.image)
    if name is None:
        return Pull.FREE
    owner = Actor(
        user_id=request.owner_id,
        label="",
        organisation_id=request.organisation_id,
        permissions=request.permissions,
        channel=Channel.TASK,
    )
    with acting(owner):
        if Action.PULL in allowed_actions(owner, name):
            return Pull.GRANTED
        return Pull.REFUSED if organisation_named(name.organisation) else Pull.UNSHARED  # seen: their own alone


def credential(request: ImageRequest) -> str:
    """Opens this one repository for reading, for an hour. Only where it `may_pull`."""
    name = repository_of_ours(request.image)
    if name is None:
        raise ValueError("an image of another registry needs none of our tokens")
    return bearer.issue(bearer.PLATFORM, [bearer.Grant(name.text, frozenset({Action.PULL.value}))], LIFETIME_S)
