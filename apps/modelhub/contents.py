"""The files of a version as `recognising` reads them."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from apps.common.errors import DomainError
from apps.modelhub.recognising.reading import Entry
from apps.storage.models import EntryKind, Manifest, ManifestEntry
from apps.storage.safe_open import open_file

MOST_FILES = 5_000


class Contents:
    """Names and sizes by the manifest, bytes from its tree at `root`."""

    def __init__(self, manifest: Manifest, root: Path) -> None:
        self._manifest, self._root = manifest, root

    @cached_property
    def entries(self) -> Sequence[Entry]:
        rows = ManifestEntry.objects.filter(manifest=self._manifest, kind=EntryKind.FILE).order_by("path")
        return [Entry(path, size) for path, size in rows.values_list("path", "size")[:MOST_FILES]]

    def read(self, path: str, offset: int, count: int) -> bytes:
        try:
            descriptor = open_file(self._root, path)
        except DomainError:
            return b""
        try:
            return os.pread(descriptor, count, offset)
        finally:
            os.close(descriptor)
