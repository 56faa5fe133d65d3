"""Volumes and dataset versions that an environment mounts: chosen once, resolved again at every start."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.storage import datasets, volumes
from apps.workloads.spec import DataMount

VOLUME, DATASET = "volume", "dataset"
MAX_MOUNTS = 20


@dataclass(frozen=True, slots=True)
class MountChoice:
    """`id` of a volume, or of a version of a dataset (which is always read-only)."""

    kind: str
    id: UUID
    read_only: bool = False


def chosen(actor: Actor, choices: Iterable[MountChoice]) -> list[dict[str, Any]]:
    """Rows for `Environment.mounts`. Raises `Invalid` for what the actor cannot mount."""
    rows = [_row(actor, choice) for choice in choices]
    if len(rows) > MAX_MOUNTS:
        raise Invalid.field("mounts", _("No more than 20 volumes and datasets at a time."))
    targets = [row["target"] for row in rows]
    if len(set(targets)) < len(targets):
        raise Invalid.field("mounts", _("Two of them have the same name; rename one, or leave one out."))
    return rows


def _row(actor: Actor, choice: MountChoice) -> dict[str, Any]:
    try:
        if choice.kind == DATASET:
            version = datasets.get_version(actor, choice.id)
            name, target, read_only = f"{version.dataset.name} v{version.number}", _dataset_target(version), True
        elif choice.kind == VOLUME:
            volume = volumes.get(actor, choice.id)
            may_write = volumes.writable(actor).filter(pk=volume.pk).exists()
            name, target, read_only = volume.name, f"/volumes/{volume.name}", choice.read_only or not may_write
        else:
            raise NotFound
    except NotFound as error:
        raise Invalid.field("mounts", _("Choose volumes and datasets that you can see.")) from error
    return {"kind": choice.kind, "id": str(choice.id), "name": name, "target": target, "read_only": read_only}


def _dataset_target(version: Any) -> str:
    return f"/datasets/{version.dataset.name}"


def resolve(actor: Actor, rows: Sequence[Mapping[str, Any]]) -> tuple[DataMount, ...]:
    """The kernel's mounts of `Environment.mounts` as they may be mounted today. `Conflict` names what is gone."""
    return tuple(_mount(actor, row) for row in rows)


def _mount(actor: Actor, row: Mapping[str, Any]) -> DataMount:
    try:
        if row["kind"] == DATASET:
            version = datasets.get_version(actor, UUID(row["id"]))
            return datasets.mount_of(version, _dataset_target(version))
        volume = volumes.get(actor, UUID(row["id"]))
        may_write = volumes.writable(actor).filter(pk=volume.pk).exists()
        read_only = row["read_only"] or not may_write
        return volumes.mount_of(volume, f"/volumes/{volume.name}", read_only=read_only)
    except NotFound as error:
        raise Conflict(
            _("“%(name)s” is mounted, but it is gone or no longer shared with you.") % {"name": row["name"]},
            hint=_("Take it out of the environment's settings, then start again."),
        ) from error
