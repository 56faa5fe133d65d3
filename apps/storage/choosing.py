"""Which volumes and dataset versions a workload mounts: converts a person's choice to the kernel's mounts and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.storage import datasets, volumes
from apps.storage.choices import RootKind
from apps.storage.models import DatasetVersion, Volume
from apps.workloads.spec import DataMount

VOLUMES, DATASETS = "/volumes/", "/datasets/"
MOST = 20
SHOWN = 100


@dataclass(frozen=True, slots=True)
class Chosen:
    """`kind` is volume or version; a version is always read-only."""

    kind: RootKind
    id: UUID
    read_only: bool = True


def mounts_of(actor: Actor, chosen: Iterable[Chosen]) -> tuple[DataMount, ...]:
    """Mounts below `/volumes` and `/datasets`. Raises `Invalid` (field `mounts`) for what the actor cannot mount.

    A volume that may only be read, or is over its limit, is mounted read-only whatever was chosen.
    """
    mounts = tuple(_mount(actor, each) for each in chosen)
    if len(mounts) > MOST:
        raise Invalid.field("mounts", _("No more than 20 volumes and datasets at a time."))
    if len({mount.target for mount in mounts}) < len(mounts):
        raise Invalid.field("mounts", _("Two of them have the same name; rename one, or leave one out."))
    return mounts


def _mount(actor: Actor, chosen: Chosen) -> DataMount:
    try:
        if chosen.kind is RootKind.VERSION:
            version = datasets.get_version(actor, chosen.id)
            return datasets.mount_of(version, f"{DATASETS}{version.dataset.name}")
        volume = volumes.get(actor, chosen.id)
        may_write = volumes.writable(actor).filter(pk=volume.pk).exists()
        return volumes.mount_of(volume, f"{VOLUMES}{volume.name}", read_only=chosen.read_only or not may_write)
    except NotFound as error:
        raise Invalid.field("mounts", _("Choose volumes and datasets that you can see.")) from error


def chosen_mounts(mounts: Iterable[DataMount]) -> tuple[Chosen, ...]:
    """The choice behind a spec: its volumes and versions, without the platform's own mounts."""
    found = []
    for mount in mounts:
        kind, _slash, text_id = mount.source.partition("/")[2].partition("/")
        if kind in (RootKind.VOLUME, RootKind.VERSION) and mount.target.startswith((VOLUMES, DATASETS)):
            found.append(Chosen(RootKind(kind), UUID(text_id), mount.read_only))
    return tuple(found)


def mounts_from_post(data: Any) -> tuple[Chosen, ...]:
    """`volume-<id>` = read or write, `dataset` = ids of versions, as the part of a form posts them."""
    found = []
    for name in data:
        kind, _dash, text_id = name.partition("-")
        if kind == "volume" and data[name] in ("read", "write"):
            found.append(Chosen(RootKind.VOLUME, _uuid(text_id), data[name] == "read"))
    ids = data.getlist("dataset") if hasattr(data, "getlist") else data.get("dataset", [])
    return (*found, *(Chosen(RootKind.VERSION, _uuid(value)) for value in ids if value))


def _uuid(text: str) -> UUID:
    """The id; for malformed text one that no object has."""
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)


@dataclass(frozen=True, slots=True)
class VolumeRow:
    """A volume to choose; `state` is `read`, `write` or empty."""

    volume: Volume
    writable: bool
    state: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: DatasetVersion
    chosen: bool


def mount_choices(actor: Actor, chosen: Iterable[Chosen]) -> Mapping[str, Any]:
    """What `storage/mounts.html` shows: the newest volumes and versions, those chosen always among them."""
    if not actor.may(Permission.STORAGE_VIEW):
        return {"volumes": [], "versions": []}
    states = {each.id: "read" if each.read_only else "write" for each in chosen}
    mine = _with_chosen(volumes.visible(actor), states)
    may_write = set(volumes.writable(actor).filter(pk__in=[each.pk for each in mine]).values_list("pk", flat=True))
    versions = _with_chosen(datasets.choosable(actor), states)
    return {
        "volumes": [VolumeRow(each, each.pk in may_write, states.get(each.pk, "")) for each in mine],
        "versions": [VersionRow(each, each.pk in states) for each in versions],
    }


def _with_chosen(found: Any, states: Mapping[UUID, str]) -> list[Any]:
    first = list(found[:SHOWN])
    known = {each.pk for each in first}
    return [*(each for each in found.filter(pk__in=list(states)) if each.pk not in known), *first]
