"""Who may come in by SSH, and what they find: rights are read from the database each time they are asked."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel, system_actor
from apps.common.errors import DomainError
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.envs import selectors
from apps.envs.models import Environment
from apps.storage import volumes
from apps.storage.models import Volume
from apps.tenants import ssh_keys
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User


class Kind(StrEnum):
    ENVIRONMENT = "environment"
    VOLUME = "volume"


@dataclass(frozen=True, slots=True)
class Guest:
    """A person who proved to hold a key, at one environment or volume. `code` is the SSH user name."""

    user_id: int
    fingerprint: str
    address: str
    organisation_id: UUID
    kind: Kind
    id: UUID
    code: str
    name: str


def admit(code: str, fingerprint: str, address: str) -> Guest | None:
    """Who the key makes of a client that calls for `code`; None where it opens nothing there."""
    with acting(system_actor()):
        environment = selectors.by_code(code)
        volume = Volume.objects.filter(code=code, deleted_at__isnull=True).first() if environment is None else None
    found = environment or volume
    if found is None:
        return None
    kind = Kind.VOLUME if environment is None else Kind.ENVIRONMENT
    for user in ssh_keys.users_with(fingerprint):
        guest = Guest(user.pk, fingerprint, address, found.organisation_id, kind, found.pk, code, found.name)
        if is_welcome(guest):
            return guest
    return None


def is_welcome(guest: Guest) -> bool:
    """Whether the person, the key and the right are still there; to be asked again and again while they stay."""
    try:
        actor = actor_of(guest)
        with acting(actor):
            if guest.kind is Kind.VOLUME:
                return volumes.visible(actor).filter(pk=guest.id).exists()
            environment = Environment.objects.filter(pk=guest.id, deleted_at__isnull=True).first()
            return environment is not None and _may_enter(actor, environment)
    except (DomainError, User.DoesNotExist):
        return False


def actor_of(guest: Guest) -> Actor:
    """The person with the rights of this moment. Raises `Denied`, or DoesNotExist once the key or account is gone."""
    user = User.objects.get(pk=guest.user_id, is_active=True, ssh_keys__fingerprint=guest.fingerprint)
    return organisation_actor(user, guest.organisation_id, channel=Channel.SSH, address=guest.address)


def _may_enter(actor: Actor, environment: Environment) -> bool:
    """The owner alone, as in the browser (`may_enter` of workloads); a frozen organisation leaves them no right."""
    return environment.owner_id == actor.user_id and actor.may(Permission.ENVIRONMENTS_USE)


def signed_in(guest: Guest) -> None:
    """Into the operation log, and on the key."""
    ssh_keys.note_use(guest.user_id, guest.fingerprint)
    record(
        actor_of(guest),
        action="ssh.signed_in",
        target=Target(guest.kind.value, str(guest.id), guest.name),
        organisation_id=guest.organisation_id,
        after={"code": guest.code, "fingerprint": guest.fingerprint},
    )
