"""Which permissions each kind of workload asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.workloads.choices import Kind
from apps.workloads.models import Workload


@dataclass(frozen=True, slots=True)
class Rights:
    """`view` one's own, `use` (submit, stop, open) one's own, `manage_all`: see and stop those of colleagues."""

    view: Permission
    use: Permission
    manage_all: Permission


RIGHTS: Mapping[Kind, Rights] = {
    Kind.TRAINING: Rights(Permission.TRAINING_VIEW, Permission.TRAINING_SUBMIT, Permission.TRAINING_MANAGE_ALL),
    Kind.ENVIRONMENT: Rights(
        Permission.ENVIRONMENTS_VIEW, Permission.ENVIRONMENTS_USE, Permission.ENVIRONMENTS_MANAGE_ALL
    ),
}


def may_submit(actor: Actor, kind: Kind) -> None:
    """Raise `Denied` unless the actor may run workloads of this kind."""
    actor.require(RIGHTS[kind].use)


def may_change(actor: Actor, workload: Workload) -> None:
    """The owner, those who manage the organisation's work, and the platform's staff; `NotFound` for others."""
    rights = RIGHTS[Kind(workload.kind)]
    if actor.platform:
        actor.require(Permission.PLATFORM_WORKLOADS_MANAGE)
    elif workload.owner_id == actor.user_id:
        actor.require(rights.use)
    elif not actor.may(rights.manage_all):
        raise NotFound


def may_enter(actor: Actor, workload: Workload) -> None:
    """To open what runs inside: of an environment its owner alone; of a run also who manages the organisation's.

    Administrators and the platform's staff stop environments, but a terminal in one acts in its owner's name, with
    their files and secrets: `NotFound` for them. The SSH door decides by the same rule.
    """
    if actor.platform and actor.user_id is not None:
        raise NotFound
    if workload.kind == Kind.ENVIRONMENT and not actor.platform and workload.owner_id != actor.user_id:
        raise NotFound
    may_change(actor, workload)
