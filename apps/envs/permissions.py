"""Who may do what with an environment. What cannot be seen is `NotFound`."""

from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.common.permissions import Permission
from apps.envs.choices import KIND
from apps.envs.models import Environment
from apps.workloads.permissions import may_manage


def require_own(actor: Actor, environment: Environment) -> None:
    """To start, open and change it: its owner alone, because it is their money, their files and their name."""
    _require_inside(actor, environment)
    if actor.platform or environment.owner_id != actor.user_id:
        if not actor.platform and not actor.may(Permission.ENVIRONMENTS_MANAGE_ALL):
            raise NotFound
        raise Denied(Permission.ENVIRONMENTS_USE)
    actor.require(Permission.ENVIRONMENTS_USE)


def require_manage(actor: Actor, environment: Environment) -> None:
    """To stop, save, recycle, restore and delete it: also who manages the organisation's, and the platform's staff."""
    _require_inside(actor, environment)
    may_manage(actor, KIND, environment.owner_id)


def _require_inside(actor: Actor, environment: Environment) -> None:
    """One person may belong to several organisations; they act in one."""
    if not actor.platform and environment.organisation_id != actor.organisation_id:
        raise NotFound
