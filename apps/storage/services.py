"""Making folders and putting files into them."""

import os
import shutil
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings
from django.core.files.base import File
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.storage.archives import MAX_BYTES, MAX_FILES, extract_zip
from apps.storage.beneath import create_file, items
from apps.storage.models import Folder, FolderKind

# Admission stops before the disk is full, so that what runs can still write.
MAX_DISK_USED = 0.9


def root_of(folder: Folder) -> Path:
    """Where the folder lies on this machine."""
    return Path(settings.PLSTACK_HOME) / "data" / folder.relative_path


def create_folder(actor: Actor, *, kind: FolderKind, folder_id: UUID | None = None) -> Folder:
    """An empty folder of the actor's organisation."""
    refuse_when_full()
    folder: Folder = Folder.objects.create(
        id=folder_id or uuid4(), organisation_id=actor.organisation(), owner_id=actor.person(), kind=kind
    )
    root_of(folder).mkdir(parents=True, exist_ok=True)
    return folder


def refuse_when_full() -> None:
    """Raise `Unavailable` at nine tenths of the disk."""
    disk = shutil.disk_usage(settings.PLSTACK_HOME)
    if disk.used / max(1, disk.used + disk.free) >= MAX_DISK_USED:
        raise Unavailable(
            _("The platform's disk is more than 90 % full, so nothing new is taken."),
            hint=_("Ask the platform's administrators to free space."),
        )


def add_file(actor: Actor, *, folder: Folder, path: str, content: "File[bytes]") -> None:
    """Put one uploaded file at `path`; a zip is unpacked. Raises `Conflict` once a run uses the folder."""
    _writable(actor, folder)
    refuse_when_full()
    if path.lower().endswith(".zip"):
        extract_zip(content, root_of(folder))
    else:
        with os.fdopen(create_file(root_of(folder), path), "wb") as target:
            for chunk in content.chunks():
                target.write(chunk)
    count, size = measure(root_of(folder))
    if count > MAX_FILES or size > MAX_BYTES:
        raise Invalid.field("file", _("Code may have 5,000 files and 512 MiB at most."))


def write_text(actor: Actor, *, folder: Folder, path: str, text: str) -> None:
    """Write a text file, with Unix line ends: a shell would choke on what browsers send."""
    _writable(actor, folder)
    with os.fdopen(create_file(root_of(folder), path), "w", encoding="utf-8", newline="\n") as target:
        target.write(text.replace("\r\n", "\n"))


def seal(folder: Folder) -> None:
    """From now on the folder's files are what a run was given."""
    Folder.objects.filter(pk=folder.pk).update(sealed=True)


def own_folder(actor: Actor, folder_id: UUID, kind: FolderKind) -> Folder:
    """A folder of the actor's own organisation that the actor made; `NotFound` otherwise."""
    folder: Folder | None = Folder.objects.filter(pk=folder_id, kind=kind, owner_id=actor.user_id).first()
    if folder is None:
        raise NotFound
    return folder


def measure(root: Path) -> tuple[int, int]:
    """Number of files and their bytes below `root`; links are not followed."""
    count = size = 0
    for folder, _folders, names in os.walk(root):
        for name in names:
            count += 1
            size += os.lstat(os.path.join(folder, name)).st_size
    return count, size


def file_names(folder: Folder, *, limit: int = 200) -> list[str]:
    """Relative paths of the folder's files, for the page that shows what was uploaded."""
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < limit:
        for item in items(root_of(folder), waiting.pop(0)):
            (waiting if item.is_folder else found).append(item.path)
    return found[:limit]


def _writable(actor: Actor, folder: Folder) -> None:
    if folder.owner_id != actor.user_id:
        raise NotFound
    if folder.sealed:
        raise Conflict(_("A run uses these files already; start from a copy."))
