"""Who may see, use and manage workloads. Decided here alone: the apps of the kinds ask for their own rows too."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.models import SharedPort, Workload

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


def may_use_terminal(actor: Actor, workload: Workload) -> None:
    """To run commands beside its program: its owner alone, of every kind of work.

    They would see the secrets that its owner gave it, and act in the owner's name. `NotFound` for anybody else,
    `Denied` for an owner whose right to such work has ended.
    """
    if not _owns(actor, workload):
        raise NotFound
    _require_entry(actor, workload)


def may_open_port(actor: Actor, workload: Workload, port: str) -> None:
    """To open a port of this name: the work's owner alone, and the whole organisation while the owner shares it.

    What serves there acts in its owner's name, with their files and secrets: who manages the organisation's work, or
    the platform, is let in no more than any colleague. `NotFound` for anybody else, `Denied` for an owner whose right
    to such work has ended.
    """
    if actor.platform and actor.user_id is None:
        return
    if _owns(actor, workload):
        _require_entry(actor, workload)
        return
    is_inside = not actor.platform and workload.organisation_id == actor.organisation_id
    if not is_inside or not workload.is_live or not SharedPort.objects.filter(workload=workload, port=port).exists():
        raise NotFound
    actor.require(Permission.ORGANISATION_VIEW)


def may_share_port(actor: Actor, workload: Workload) -> None:
    """The owner alone, as with terminals."""
    may_use_terminal(actor, workload)


def is_terminal_user(actor: Actor, workload: Workload) -> bool:
    """The same for pages, which show it to nobody else."""
    return _owns(actor, workload) and actor.may(kinds.kind_of(workload).rights.use)


def _require_entry(actor: Actor, workload: Workload) -> None:
    """What an owner needs to look inside."""
    rules = kinds.kind_of(workload)
    actor.require(rules.rights.use)
    if rules.entry_right is not None:
        rules.entry_right(actor, workload)


def _owns(actor: Actor, workload: Workload) -> bool:
    is_inside = not actor.platform and workload.organisation_id == actor.organisation_id
    return is_inside and workload.owner_id == actor.user_id
