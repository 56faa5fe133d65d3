"""Who may do what with an environment. Invisible ones are `NotFound`."""

from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.common.permissions import Permission
from apps.envs.choices import KIND
from apps.envs.models import Environment
from apps.workloads.permissions import may_manage


def require_own(actor: Actor, environment: Environment) -> None:
    """Starting, opening and changing it: only its owner, because it is their money, their files and their name."""
    _require_inside(actor, environment)
    if actor.platform or environment.owner_id != actor.user_id:
        if not actor.platform and not actor.may(Permission.ENVIRONMENTS_MANAGE_ALL):
            raise NotFound
        raise Denied(Permission.ENVIRONMENTS_USE)
    actor.require(Permission.ENVIRONMENTS_USE)


def require_manage(actor: Actor, environment: Environment) -> None:
    """Stopping, saving, recycling, restoring and deleting it: also managers of the organisation and platform staff."""
    _require_inside(actor, environment)
    may_manage(actor, KIND, environment.owner_id)


def _require_inside(actor: Actor, environment: Environment) -> None:
    """The environment must belong to the organisation in which the actor acts; a person may belong to several."""
    if not actor.platform and environment.organisation_id != actor.organisation_id:
        raise NotFound
