"""SSH authentication and rights, which are read from the database at each check."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel, system_actor
from apps.common.errors import DomainError
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.envs import selectors
from apps.envs.choices import KIND as ENVIRONMENT
from apps.envs.models import Environment
from apps.storage import volumes
from apps.storage.models import Volume
from apps.tenants import ssh_keys
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User
from apps.workloads.models import Workload
from apps.workloads.terminal.names import program_named
from apps.workloads.terminal.sessions import visible_workload


class Kind(StrEnum):
    ENVIRONMENT = "environment"
    VOLUME = "volume"
    PROGRAM = "workload"


@dataclass(frozen=True, slots=True)
class Guest:
    """A person who proved to hold a key, at one environment, volume or program of other work, of which `id` is the
    workload and `rank` the member. `code` is the SSH user name.
    """

    user_id: int
    fingerprint: str
    address: str
    organisation_id: UUID
    kind: Kind
    id: UUID
    code: str
    name: str
    rank: int = 0


def authenticate(code: str, fingerprint: str, address: str) -> Guest | None:
    """The guest that this key authenticates for `code`; None if it gives no access there."""
    found = _find(code)
    if found is None:
        return None
    kind, row, rank = found
    for user in ssh_keys.users_with(fingerprint):
        guest = Guest(user.pk, fingerprint, address, row.organisation_id, kind, row.pk, code, row.name, rank)
        if still_allowed(guest):
            return guest
    return None


def _find(code: str) -> tuple[Kind, Environment | Volume | Workload, int] | None:
    """What the user name means, and the rank of a member."""
    with acting(system_actor()):
        environment = selectors.by_code(code)
        volume = Volume.objects.filter(code=code, deleted_at__isnull=True).first() if environment is None else None
    if environment is not None:
        return Kind.ENVIRONMENT, environment, 0
    if volume is not None:
        return Kind.VOLUME, volume, 0
    program = program_named(code)
    if program is None or program[0].kind == ENVIRONMENT:  # which has a name of its own
        return None
    return Kind.PROGRAM, *program


def still_allowed(guest: Guest) -> bool:
    """Whether the person, the key and the right still exist; call it repeatedly during a session."""
    try:
        actor = actor_of(guest)
        with acting(actor):
            if guest.kind is Kind.VOLUME:
                return volumes.visible(actor).filter(pk=guest.id).exists()
            if guest.kind is Kind.PROGRAM:
                return bool(visible_workload(actor, guest.id))
            environment = Environment.objects.filter(pk=guest.id, deleted_at__isnull=True).first()
            return environment is not None and _may_enter(actor, environment)
    except (DomainError, User.DoesNotExist):
        return False


def actor_of(guest: Guest) -> Actor:
    """The person with their present rights. Raises `Denied`, or DoesNotExist once the key or account is gone."""
    user = User.objects.get(pk=guest.user_id, is_active=True, ssh_keys__fingerprint=guest.fingerprint)
    return organisation_actor(user, guest.organisation_id, channel=Channel.SSH, address=guest.address)


def _may_enter(actor: Actor, environment: Environment) -> bool:
    """The owner alone, as in the browser (`may_enter` of workloads); a frozen organisation leaves them no right."""
    return environment.owner_id == actor.user_id and actor.may(Permission.ENVIRONMENTS_USE)


def record_sign_in(guest: Guest) -> None:
    """Record the sign-in in the operation log and on the key."""
    ssh_keys.note_use(guest.user_id, guest.fingerprint)
    record(
        actor_of(guest),
        action="ssh.signed_in",
        target=Target(guest.kind.value, str(guest.id), guest.name),
        organisation_id=guest.organisation_id,
        after={"code": guest.code, "fingerprint": guest.fingerprint},
    )
