"""An image that a machine made, on its way into the registry: in its owner's name, with the rights that they have now.

The machine sends it; whoever waits for it calls `push` again and again.
"""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor, Channel
from apps.common.errors import Conflict, Unavailable
from apps.common.scoping import acting
from apps.registry.distribution import bearer, recording
from apps.registry.distribution.access import Action, allowed_actions
from apps.registry.distribution.bearer import Grant
from apps.registry.distribution.client import Client
from apps.registry.distribution.names import RepositoryName, repository_of_ours
from apps.registry.distribution.offering import key_of
from apps.registry.models import Image, ImageTag
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User
from apps.workloads import reach
from apps.workloads.drivers.base import Progress
from apps.workloads.drivers.images import Destination
from apps.workloads.models import Attempt
from apps.workloads.references import Reference

LIFETIME_S = 6 * 3600
"""Of the token: as long as a machine may go on sending."""


class TagTaken(Conflict):
    """Somebody has pushed another image under this tag meanwhile. Versions are not overwritten."""

    code = "tag_taken"

    def __init__(self, tag: str) -> None:
        words = _("Somebody has pushed a version %(tag)s of it meanwhile, and versions are not overwritten.")
        super().__init__(words % {"tag": tag}, hint=_("Choose another tag and do it again."))


@dataclass(frozen=True, slots=True)
class Sending:
    """`image`: what the attempt was saved as. It goes to `repository`:`tag`, without its host, as `owner`.

    `attempt` None: an image that a machine keeps, of work that nobody knows any more.
    """

    attempt: Attempt | None
    image: Reference
    repository: str
    tag: str
    owner: User
    organisation_id: UUID

    def destination(self, token: str = "") -> Destination:
        return Destination(f"{settings.REGISTRY_HOST}/{self.repository}", self.tag, token)


def push(sending: Sending, *, begun: bool) -> Image | Progress:
    """One turn: the pushed image, or how far it is. `begun`: an earlier turn has sent something of it.

    Raises `DomainError` (the owner may not any more, `TagTaken`), `RegistryAway`, `Unavailable`, `DriverError`.
    """
    if not begun:
        _refuse_taken(sending)
        if not withdraw(sending):  # what an earlier one with the same name and content left there
            raise Unavailable(_("An earlier transfer is still being ended."))
    to = sending.destination(_token(sending))
    if sending.attempt is None:
        progress = reach.push_kept_image(sending.image, to)
    else:
        progress = reach.push_image_of(sending.attempt, sending.image, to)
    return arrived(sending) if progress is None else progress


def manifest_of(sending: Sending) -> bytes:
    """Of what is to be sent, as its machine has it. Raises `Unavailable`, `Conflict`, `DriverError`."""
    if sending.attempt is None:
        return reach.kept_manifest(sending.image)
    return reach.saved_manifest_of(sending.attempt, sending.image)


def arrived(sending: Sending) -> Image:
    """What the registry has under the tag, where that is what was sent. Raises `TagTaken`, `RegistryAway`."""
    with Client() as client:
        username = sending.owner.username
        recording.pushed(client, sending.repository, sending.tag, sending.image.digest, username)
    tag = ImageTag.objects.filter(repository__name=sending.repository, name=sending.tag).first()
    target = Reference(sending.destination().repository, sending.image.digest)
    found = None if tag is None else Image.objects.filter(key=key_of(tag), reference=target.name).first()
    if found is None:  # somebody deleted it, or pushed over it, in this very moment
        raise TagTaken(sending.tag)
    return found


def is_there(sending: Sending) -> bool:
    """Whether the tag leads to it already. Raises `RegistryAway`."""
    with Client() as client:
        found = client.manifest(sending.repository, sending.tag)
    return found is not None and found.digest == sending.image.digest


def withdraw(sending: Sending) -> bool:
    """Send no more of it: True once nothing is being sent. Raises `Unavailable`, `DriverError`, `Conflict`."""
    if sending.attempt is None:
        return reach.withdraw_kept_image(sending.image, sending.destination())
    return reach.withdraw_image_of(sending.attempt, sending.image, sending.destination())


def may_push(owner: User, organisation_id: UUID, repository: str) -> bool:
    """As the owner is now. Raises `Denied` where they are no member any more."""
    actor = organisation_actor(owner, organisation_id, channel=Channel.TASK)
    return owner.is_active and Action.PUSH in _allowed(actor, repository)


def _refuse_taken(sending: Sending) -> None:
    with Client() as client:
        there = client.manifest(sending.repository, sending.tag)
    if there is not None and there.digest != sending.image.digest:
        raise TagTaken(sending.tag)


def _token(sending: Sending) -> str:
    """Pushes to this repository, and pulls from that of the base, as the owner may now."""
    actor = organisation_actor(sending.owner, sending.organisation_id, channel=Channel.TASK)
    wanted = {sending.repository: frozenset({Action.PULL, Action.PUSH})}
    base = repository_of_ours(sending.image)
    if base is not None:
        wanted.setdefault(base.text, frozenset({Action.PULL}))
    grants = [
        Grant(name, frozenset(action.value for action in actions & _allowed(actor, name)))
        for name, actions in wanted.items()
    ]
    return bearer.issue(sending.owner.username, grants, LIFETIME_S)


def _allowed(actor: Actor, repository: str) -> frozenset[Action]:
    with acting(actor):
        return allowed_actions(actor, RepositoryName.parse(repository))
