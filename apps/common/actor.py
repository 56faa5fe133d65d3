"""Who acts, for which organisation, with which rights: the first argument of every service and selector."""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from apps.common.errors import Denied, Frozen
from apps.common.permissions import Permission


class Channel(StrEnum):
    """How the actor reached us; written into the audit log."""

    WEB = "web"
    API = "api"
    TASK = "task"
    COMMAND = "command"
    SSH = "ssh"


@dataclass(frozen=True, slots=True)
class Actor:
    """An identity frozen for one request or task.

    `organisation_id` is the only organisation whose rows the actor reaches. It is None for platform staff in
    the console and for the platform itself (`platform=True`), who reach all of them. `withheld`: what the role allows
    and the organisation, being frozen, does not. `priority`: the highest that a member's work may have.
    """

    user_id: int | None
    label: str
    organisation_id: UUID | None
    department_id: UUID | None = None
    permissions: frozenset[Permission] = field(default_factory=frozenset)
    platform: bool = False
    channel: Channel = Channel.WEB
    address: str | None = None
    withheld: frozenset[Permission] = field(default_factory=frozenset)
    priority: int | None = None

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions

    def require(self, permission: Permission) -> None:
        """Raise `Denied` unless the actor holds `permission`; its subclass `Frozen` if only the freeze forbids it."""
        if not self.may(permission):
            raise Frozen(permission) if permission in self.withheld else Denied(permission)

    def organisation(self) -> UUID:
        """The organisation acted for; platform actors have none and must name one explicitly."""
        if self.organisation_id is None:
            raise Denied(Permission.ORGANISATION_VIEW)
        return self.organisation_id

    def person(self) -> int:
        """The id of the person who acts; the platform itself has none."""
        if self.user_id is None:
            raise Denied(Permission.ORGANISATION_VIEW)
        return self.user_id


def system_actor(channel: Channel = Channel.TASK) -> Actor:
    """The platform itself, for its loops and commands. Never built from a request."""
    return Actor(
        user_id=None,
        label="PLStack",
        organisation_id=None,
        permissions=frozenset(Permission.every()),
        platform=True,
        channel=channel,
    )
