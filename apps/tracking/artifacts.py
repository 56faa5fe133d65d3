"""Files that a run keeps as its artifacts: below its own output folder, where its page shows them.

A run's own lie in `artifacts/`, those of a run nested in it in `artifacts-nested/<its id>/`. Its program may write
there, too, so every path is opened without following links. A file appears under its name once it is whole.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, Invalid, NotFound, QuotaExceeded
from apps.common.formatting import file_size
from apps.storage.disk import require_free_space
from apps.storage.models import MIB
from apps.storage.objects import write_all
from apps.storage.operations import disk_errors_as_refusals
from apps.storage.safe_open import HIDDEN, Item, list_folder, open_file, split_path, writing
from apps.storage.usage import measure
from apps.tracking.collecting.output import output_mount, output_root
from apps.workloads.models import Workload

OWN, NESTED = "artifacts", "artifacts-nested"
PATIENCE_S = 2.0
"""How long a run's output is counted before a file is taken: of more, its machine's own watch ends the run."""


class RunEnded(Conflict):
    """What an ended run has put out stays as it is: its passport and its copies rely on it."""

    code = "run_ended"

    def __init__(self) -> None:
        super().__init__(
            _("This run is not running, so nothing is added to its output."),
            hint=_("Files are kept as artifacts while their run is running."),
        )


class NoOutput(Conflict):
    """The folder is not on a disk that this process reads."""

    code = "no_output"

    def __init__(self) -> None:
        super().__init__(
            _("The output folder of this run cannot be reached from the platform's server."),
            hint=_("It was removed, or lies on storage that is not mounted here; its program may write there."),
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where the artifacts of a run are: `folder` below `root`. `limit_bytes` holds for all of its output."""

    root: Path
    folder: str
    limit_bytes: int | None

    def path(self, path: str) -> str:
        """Raises `Invalid` for a path that leaves the folder, or that names a file which is being written."""
        names = split_path(path)
        if any(name.startswith(HIDDEN) for name in names):
            raise Invalid.field("path", _("This is not a path inside the folder."))
        return "/".join((self.folder, *names))


def place_of(workload: Workload, run_id: UUID) -> Place:
    """Raises `NoOutput`."""
    root, mount = output_root(workload), output_mount(workload)
    if root is None or mount is None or not root.is_dir():
        raise NoOutput
    folder = OWN if run_id == workload.pk else f"{NESTED}/{run_id.hex}"
    return Place(root, folder, None if mount.limit_mib is None else mount.limit_mib * MIB)


def store(place: Place, path: str, *, size: int, chunks: Iterable[bytes], admit: Callable[[], None]) -> None:
    """Write a file of `size` bytes in the place of what is there under its name: all of it or nothing.

    Its blocks are taken before the output is counted, so that two files at once cannot both fit into the same room.
    `admit` raises once nothing may be written any more, and is asked again before the file appears.
    """
    if not split_path(path):
        raise Invalid.field("path", _("A file needs a name."))
    admit()
    require_free_space()
    require_room(place, size, 1)
    with disk_errors_as_refusals(), writing(place.root, place.path(path)) as descriptor:
        if size:
            os.posix_fallocate(descriptor, 0, size)
        require_room(place)
        written = 0
        for chunk in chunks:
            written += len(chunk)
            if written > size:
                break
            write_all(descriptor, chunk)
        if written != size:
            raise Invalid(_("More or fewer bytes came than the file was said to have."))
        admit()


def require_room(place: Place, size: int = 0, entries: int = 0) -> None:
    """Raises `QuotaExceeded` if so much more would be over the limits of the run's output."""
    most = settings.RUN_FILES
    held = measure(place.root, most=most, patience_s=PATIENCE_S)
    if place.limit_bytes is not None and held.size + size > place.limit_bytes:
        raise QuotaExceeded(
            _("The output of a run holds at most %(limit)s.") % {"limit": file_size(place.limit_bytes)},
            hint=_("Keep fewer or smaller files."),
        )
    if held.entries + entries > most:
        raise QuotaExceeded(
            _("The output of a run holds at most %(count)s files and folders.") % {"count": most},
            hint=_("Pack many small files into one."),
        )


def opened(place: Place, path: str) -> int:
    """A read-only descriptor of an artifact; the caller closes it. Raises `NotFound` for anything but a file."""
    return open_file(place.root, place.path(path))


def listing(place: Place, path: str = "") -> list[Item]:
    """One folder; empty for a file and for what is not there, as clients of MLflow expect. Paths are of names alone."""
    try:
        found = list_folder(place.root, place.path(path))
    except NotFound:
        return []
    return [each for each in found if not each.name.startswith(HIDDEN)]
