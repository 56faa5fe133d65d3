"""Who may see, use and manage workloads. Decided here alone: the apps of the kinds ask for their own rows too."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.models import Workload

Row = TypeVar("Row", bound=Model)


def sees_everyones(actor: Actor, kind: Kind) -> bool:
    """Whether the actor sees the work of this kind of all whom they reach, and not only their own.

    Raises `Denied` for who may not even see that.
    """
    if actor.platform:
        actor.require(Permission.PLATFORM_WORKLOADS_VIEW)
        return True
    rights = kinds.named(kind).rights
    actor.require(rights.view)
    return actor.may(rights.manage_all)


def seen_rows(actor: Actor, kind: Kind, rows: QuerySet[Row], owner: str = "owner_id") -> "QuerySet[Row]":
    """Those of a kind's own rows that the actor sees: as they see the workloads behind them."""
    if sees_everyones(actor, kind):
        return rows
    mine: dict[str, Any] = {owner: actor.user_id}
    return rows.filter(**mine)


def may_submit(actor: Actor, kind: Kind) -> None:
    """Raise `Denied` unless the actor may run workloads of this kind."""
    actor.require(kinds.named(kind).rights.use)


def may_change(actor: Actor, workload: Workload) -> None:
    """The owner, those who manage the organisation's work, and the platform's staff; `NotFound` for others."""
    may_manage(actor, Kind(workload.kind), workload.owner_id)


def may_manage(actor: Actor, kind: Kind, owner_id: int) -> None:
    """As `may_change`, for what somebody owns of this kind, whether or not it has a workload now."""
    rights = kinds.named(kind).rights
    if actor.platform:
        actor.require(Permission.PLATFORM_WORKLOADS_MANAGE)
    elif owner_id == actor.user_id:
        actor.require(rights.use)
    elif not actor.may(rights.manage_all):
        raise NotFound


def may_enter(actor: Actor, workload: Workload) -> None:
    """To open what runs inside: what is private its owner alone, other work also who manages the organisation's.

    Administrators and the platform's staff stop what is private, but a terminal in it acts in its owner's name, with
    their files and secrets: `NotFound` for them. The SSH door decides by the same rule.
    """
    if actor.platform and actor.user_id is not None:
        raise NotFound
    if kinds.kind_of(workload).private and not actor.platform and workload.owner_id != actor.user_id:
        raise NotFound
    may_change(actor, workload)
