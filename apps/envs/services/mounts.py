"""Volumes and dataset versions that an environment mounts: chosen once, resolved again at every start."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen, mounts_of
from apps.workloads.spec import DataMount

Rows = Sequence[Mapping[str, Any]]


def chosen(actor: Actor, choices: Iterable[Chosen]) -> list[dict[str, Any]]:
    """Rows for `Environment.mounts`: {"kind", "id", "name", "target", "read_only"}.

    Raises `Invalid` (field `mounts`) for what the actor cannot mount.
    """
    wanted = tuple(choices)
    return [_row(each, mount) for each, mount in zip(wanted, mounts_of(actor, wanted), strict=True)]


def _row(choice: Chosen, mount: DataMount) -> dict[str, Any]:
    return {
        "kind": str(choice.kind),
        "id": str(choice.id),
        "name": mount.target.rpartition("/")[2],
        "target": mount.target,
        "read_only": mount.read_only,
    }


def choices_of(rows: Rows) -> tuple[Chosen, ...]:
    """What was chosen, from `Environment.mounts`."""
    return tuple(Chosen(RootKind(row["kind"]), UUID(row["id"]), row["read_only"]) for row in rows)


def resolve(actor: Actor, rows: Rows) -> tuple[DataMount, ...]:
    """The kernel's mounts as they may be mounted today. `Conflict` where one is gone or no longer shared."""
    try:
        return mounts_of(actor, choices_of(rows))
    except Invalid as error:
        raise Conflict(
            _("A volume or dataset that it mounts is gone, or no longer shared with you."),
            hint=_("Take it out of the environment's settings, then start again."),
        ) from error
