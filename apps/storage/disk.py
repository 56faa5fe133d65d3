"""The platform's disk: where files lie, when it is full, how a large tree is removed without anyone waiting."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Unavailable

# Admission stops before the disk is full, so that what runs can still write.
MAX_DISK_USED = 0.9


def data_root() -> Path:
    """Where the platform keeps people's files; mounts name folders below it."""
    return Path(settings.PLSTACK_HOME) / "data"


def refuse_when_full() -> None:
    """Raise `Unavailable` at nine tenths of the disk's space, or of the files that it has room for."""
    disk, inodes = shutil.disk_usage(settings.PLSTACK_HOME), os.statvfs(settings.PLSTACK_HOME)
    if disk.used / max(1, disk.used + disk.free) >= MAX_DISK_USED:
        raise Unavailable(
            _("The platform's disk is more than 90 % full, so nothing new is taken."),
            hint=_("Ask the platform's administrators to free space."),
        )
    if inodes.f_files and inodes.f_favail / inodes.f_files <= 1 - MAX_DISK_USED:
        raise Unavailable(
            _("The platform's disk has hardly any room for further files, so nothing new is taken."),
            hint=_("Ask the platform's administrators to delete files."),
        )


def trash() -> Path:
    """Where trees wait to be removed; reachable by nobody but the platform."""
    folder = data_root() / ".trash"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def discard(path: Path) -> None:
    """Take a tree away at once; its files are removed by `empty_trash` later. Nothing there is no error."""
    with suppress(FileNotFoundError):
        path.rename(trash() / uuid4().hex)


def empty_trash() -> int:
    """Remove what was discarded; the number of trees. Follows no links."""
    found = list(trash().iterdir())
    for tree in found:
        shutil.rmtree(tree, ignore_errors=True)
    return len(found)
