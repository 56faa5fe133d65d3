"""Create folders and add files to them."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

from django.core.files.base import File
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.storage.archives import MAX_BYTES, MAX_FILES, extract_zip
from apps.storage.disk import data_root, move_to_trash, require_free_space
from apps.storage.models import Folder, FolderKind
from apps.storage.objects import write_all
from apps.storage.safe_open import list_folder, make_link, writing
from apps.storage.usage import measure

# Code's limit of 5,000 files leaves as many folders for them to lie in.
ENTRIES = 2 * MAX_FILES


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a commit; its contents are read once."""

    path: str
    chunks: Iterable[bytes]
    executable: bool = False


def root_of(folder: Folder) -> Path:
    """Where the folder lies on this machine."""
    return data_root() / folder.relative_path


def create_folder(
    actor: Actor, *, kind: FolderKind, folder_id: UUID | None = None, size_mib: int | None = None
) -> Folder:
    """An empty folder of the actor's organisation, with its own limit if `size_mib` is given."""
    require_free_space()
    folder: Folder = Folder.objects.create(
        id=folder_id or uuid4(),
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        kind=kind,
        size_mib=size_mib,
    )
    root_of(folder).mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def new_folders() -> Iterator[list[Folder]]:
    """A transaction, and the list to which the block adds each folder that it makes.

    A rollback removes the rows; this also removes their directories on the disk.
    """
    made: list[Folder] = []
    try:
        with transaction.atomic():
            yield made
    except BaseException:
        for folder in made:
            shutil.rmtree(root_of(folder), ignore_errors=True)
        raise


def remove_folder(folder: Folder) -> None:
    """The row and the files, for good. Call inside the transaction that forgets the folder."""
    root = root_of(folder)
    folder.delete()
    move_to_trash(root)


def hold_folder(folder: Folder) -> bool:
    """Keep the folder from being emptied until the transaction ends; False where it has been emptied already."""
    list(Folder.objects.select_for_update(no_key=True).filter(pk=folder.pk))
    return root_of(folder).is_dir()


def empty_folder(folder: Folder) -> None:
    """The files, for good; the row stays for what refers to it. Call last in the transaction that gives them up.

    It waits for who holds the folder, and for who has just begun to refer to it.
    """
    Folder.objects.filter(pk=folder.pk).update(used_bytes=0, file_count=0)
    move_to_trash(root_of(folder))


def add_code(actor: Actor, folder: Folder | None, files: "Iterable[File[bytes]]") -> Folder:
    """Put uploaded code into `folder`, or into a new one, which is removed if a file is refused."""
    with new_folders() as made:
        if folder is None:
            folder = create_folder(actor, kind=FolderKind.CODE)
            made.append(folder)
        for file in files:
            add_file(actor, folder=folder, path=file.name or "", content=file)
    return folder


def add_commit(
    actor: Actor, files: Iterable[TreeFile], links: Mapping[str, str], *, origin: Callable[[], Mapping[str, object]]
) -> Folder:
    """A folder of code that is a commit of a repository, and stays that: `origin` says which, once all is read.

    The caller has held files and links (targets by path) to the limits of code.
    """
    require_free_space()
    with new_folders() as made:
        folder = create_folder(actor, kind=FolderKind.CODE)
        made.append(folder)
        for file in files:
            with writing(root_of(folder), file.path, mode=0o755 if file.executable else 0o644) as target:
                for chunk in file.chunks:
                    write_all(target, chunk)
        for path, leads_to in links.items():
            make_link(root_of(folder), path, leads_to)
        folder.origin, folder.sealed = dict(origin()), True
        folder.save(update_fields=["origin", "sealed"])
    return folder


def add_file(actor: Actor, *, folder: Folder, path: str, content: "File[bytes]") -> None:
    """Put one uploaded file at `path`; a zip is unpacked. Raises `Conflict` once a run uses the folder."""
    _writable(actor, folder)
    require_free_space()
    if path.lower().endswith(".zip"):
        extract_zip(content, root_of(folder))
    else:
        with writing(root_of(folder), path) as target:
            for chunk in content.chunks():
                write_all(target, chunk)
    found = measure(root_of(folder), most=ENTRIES)
    if found.entries > ENTRIES or found.size > MAX_BYTES or not found.complete:
        raise Invalid.field("file", _("Code may have 5,000 files and 512 MiB at most."))


def write_text(actor: Actor, *, folder: Folder, path: str, text: str) -> None:
    """Write a text file, with Unix line ends: a shell would choke on what browsers send."""
    _writable(actor, folder)
    with writing(root_of(folder), path) as target:
        write_all(target, text.replace("\r\n", "\n").encode())


def seal(folder: Folder) -> None:
    """From now on the folder's files are what a run was given."""
    if not folder.sealed:
        Folder.objects.filter(pk=folder.pk).update(sealed=True)


def own_folder(actor: Actor, folder_id: UUID, kind: FolderKind) -> Folder:
    """A folder of the actor's own organisation that the actor made; `NotFound` otherwise."""
    folder: Folder | None = Folder.objects.filter(pk=folder_id, kind=kind, owner_id=actor.user_id).first()
    if folder is None:
        raise NotFound
    return folder


def file_names(folder: Folder, *, limit: int = 200) -> list[str]:
    """Relative paths of the folder's files, for the page that shows what was uploaded."""
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < limit:
        for item in list_folder(root_of(folder), waiting.pop(0)):
            (waiting if item.is_folder else found).append(item.path)
    return found[:limit]


def _writable(actor: Actor, folder: Folder) -> None:
    if folder.owner_id != actor.user_id:
        raise NotFound
    if folder.origin is not None:
        raise Conflict(_("These files are a commit of a repository and stay as they are. Upload yours without them."))
    if folder.sealed:
        raise Conflict(_("A run uses these files already; start from a copy."))
