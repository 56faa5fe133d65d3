"""A common handle for all trees of files: volumes, folders of environments and runs, dataset versions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.common.permissions import Permission
from apps.storage import datasets, volumes
from apps.storage.choices import FolderKind, RootKind
from apps.storage.disk import data_root
from apps.storage.models import DatasetVersion, Folder, Volume

# Who may look after the folders of colleagues, by what the folder belongs to.
_MANAGERS = {
    FolderKind.CODE: Permission.TRAINING_MANAGE_ALL,
    FolderKind.OUTPUT: Permission.TRAINING_MANAGE_ALL,
    FolderKind.RESUME: Permission.TRAINING_MANAGE_ALL,
    FolderKind.HOME: Permission.ENVIRONMENTS_MANAGE_ALL,
    FolderKind.DRAFT: Permission.STORAGE_MANAGE_ALL,
    FolderKind.ARCHIVE: Permission.STORAGE_MANAGE_ALL,
}
_WRITABLE = frozenset({FolderKind.HOME, FolderKind.DRAFT, FolderKind.ARCHIVE})


@dataclass(frozen=True, slots=True)
class Root:
    """Where files are and what the actor may do with them. `limit` and `used` in bytes; `limit` None: no limit."""

    kind: RootKind
    id: UUID
    organisation_id: UUID
    path: Path
    relative_path: str
    title: str
    writable: bool
    used: int = 0
    limit: int | None = None


LoadRoot: TypeAlias = Callable[[Actor, UUID], Root]
"""A tree of another app (`settings.FILE_ROOTS`, by `RootKind`). Raises `NotFound` if the actor cannot see it."""


def resolve(actor: Actor, kind: str, root_id: UUID, *, write: bool = False) -> Root:
    """The tree of this address. `NotFound` if the actor cannot see it, `Denied` if they may only read it."""
    loaders = {RootKind.VOLUME: _volume, RootKind.FOLDER: _folder, RootKind.VERSION: _version}
    if kind in settings.FILE_ROOTS:
        loader: LoadRoot = import_string(settings.FILE_ROOTS[kind])
    elif kind in loaders:
        loader = loaders[RootKind(kind)]
    else:
        raise NotFound
    root = loader(actor, root_id)
    if write and not root.writable:
        raise Denied(Permission.STORAGE_USE)
    return root


def _volume(actor: Actor, root_id: UUID) -> Root:
    volume = volumes.get(actor, root_id)
    writable = volumes.writable(actor).filter(pk=volume.pk).exists()
    return _limited(RootKind.VOLUME, volume, volume.name, writable, volume.relative_path)


def _folder(actor: Actor, root_id: UUID) -> Root:
    folder = Folder.objects.filter(pk=root_id).first()
    if folder is None or not _may_see(actor, folder):
        raise NotFound
    root = root_of_folder(folder)
    # Write access to a colleague's start-up files would allow running programs in their name.
    return root if folder.owner_id == actor.user_id else replace(root, writable=False)


def root_of_folder(folder: Folder) -> Root:
    """The tree of a folder. The caller has checked that the actor may use it."""
    writable = FolderKind(folder.kind) in _WRITABLE and not folder.sealed
    return _limited(RootKind.FOLDER, folder, "", writable, folder.relative_path)


def _may_see(actor: Actor, folder: Folder) -> bool:
    if actor.platform:
        return actor.may(Permission.PLATFORM_STORAGE_MANAGE)
    return folder.owner_id == actor.user_id or actor.may(_MANAGERS[FolderKind(folder.kind)])


def _limited(kind: RootKind, row: Volume | Folder, title: str, writable: bool, relative_path: str) -> Root:
    return Root(
        kind=kind,
        id=row.pk,
        organisation_id=row.organisation_id,
        path=data_root() / relative_path,
        relative_path=relative_path,
        title=title,
        writable=writable,
        used=row.used_bytes,
        limit=row.limit_bytes,
    )


def _version(actor: Actor, root_id: UUID) -> Root:
    version: DatasetVersion = datasets.get_version(actor, root_id)
    return Root(
        kind=RootKind.VERSION,
        id=version.pk,
        organisation_id=version.organisation_id,
        path=data_root() / version.relative_path,
        relative_path=version.relative_path,
        title=f"{version.dataset.name} v{version.number}",
        writable=False,
        used=version.total_bytes,
    )


def row_of(root: Root) -> Volume | Folder:
    """The row that counts what a writable root holds; `NotFound` if it was removed meanwhile."""
    return limited_row(root.kind, root.id)


def limited_row(kind: str, root_id: UUID) -> Volume | Folder:
    """`row_of` by the root's address."""
    model = Volume if kind == RootKind.VOLUME else Folder
    row: Volume | Folder | None = model.objects.filter(pk=root_id).first()
    if row is None:
        raise NotFound
    return row
