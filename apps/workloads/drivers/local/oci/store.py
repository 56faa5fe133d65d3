"""Unpacked images of a machine: `images/<digest>/` with `root` and `image.json`, there only once it is complete.

Whoever holds `<digest>.pull` may make it; whoever runs it holds `<digest>.use` shared, and what removes it holds that
alone, so that no image goes that runs. Standard library only.
"""

import ctypes
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import Reference
from apps.workloads.drivers.local.linux import remove_tree, try_lock
from apps.workloads.drivers.local.oci.manifest import ImageConfig

KEEP_PARTS_S = 86_400.0
FOLDER, ROOT, RECORD = "images", "root", "image.json"
MANIFEST, CONFIG = "manifest.json", "config.json"

_libc = ctypes.CDLL(None, use_errno=True)


class Store:
    """Below a home."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    def tree(self, image: Reference) -> Path:
        return self._complete(image) / ROOT

    def draft(self, image: Reference) -> Path:
        """Where it is unpacked first; of no worth to anybody once the process is gone that did so."""
        return self.folder / f".new-{_name(image)}"

    def blobs(self, image: Reference) -> Path:
        """What was fetched of it, with which a fetch that was cut off goes on."""
        return self.folder / f".blobs-{_name(image)}"

    def has(self, image: Reference) -> bool:
        return (self._complete(image) / RECORD).exists()

    def config(self, image: Reference) -> ImageConfig:
        """Of a complete one. Raises OSError, ValueError."""
        fields = json.loads((self._complete(image) / RECORD).read_text())
        return ImageConfig(**{**fields, "entrypoint": tuple(fields["entrypoint"]), "cmd": tuple(fields["cmd"])})

    def hold(self, image: Reference) -> int:
        """A descriptor that keeps it from being removed, until it is closed or its process is gone. Raises OSError."""
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor = os.open(self._use(_name(image)), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            os.utime(self._complete(image) / RECORD)  # used now: the others go first
        return descriptor

    def try_to_make(self, image: Reference) -> int | None:
        """The right to make it, as long as the descriptor is open; None while somebody else has it."""
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        return try_lock(self.folder / f"{_name(image)}.pull")

    def documents(self, image: Reference) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Manifest and configuration as they were fetched; None of one that was made before they were kept."""
        try:
            manifest, config = (json.loads((self._complete(image) / name).read_bytes()) for name in (MANIFEST, CONFIG))
        except FileNotFoundError:
            return None
        return manifest, config

    def finish(self, image: Reference, config: ImageConfig, documents: Sequence[bytes] = ()) -> None:
        """The draft becomes the image in one step, after all of it is on the disk. Raises OSError.

        `documents`: its manifest and its configuration.
        """
        draft = self.draft(image)
        for name, body in zip((MANIFEST, CONFIG), documents, strict=False):
            (draft / name).write_bytes(body)
        (draft / RECORD).write_text(json.dumps(asdict(config)))
        sync_files(draft)
        draft.rename(self._complete(image))
        remove_tree(self.blobs(image))

    def make_room(self, cache_mib: int) -> None:
        """Removes those used longest ago until the rest keeps within `cache_mib`; never one that runs."""
        kept = sorted(self._kept(), reverse=True)
        total = 0
        for _, size, name in kept:
            total += size
            if total > cache_mib * 1024 * 1024 and self._remove(name):
                total -= size

    def sweep(self) -> None:
        """Removes what processes left that were killed: at once what is of no use, parts of a fetch after a day."""
        for trash in self.folder.glob(".trash-*"):
            remove_tree(trash)
        for left in [*self.folder.glob(".new-*"), *self.folder.glob(".blobs-*")]:
            name = left.name.rpartition("-")[2]
            lock = try_lock(self.folder / f"{name}.pull")
            if lock is None:
                continue
            with suppress(OSError):
                if (self.folder / name).exists() or time.time() - left.stat().st_mtime > KEEP_PARTS_S:
                    remove_tree(left)
            os.close(lock)

    def _kept(self) -> Iterator[tuple[float, int, str]]:
        """When each was used last, its size in bytes, and its name."""
        for record in self.folder.glob(f"[0-9a-f]*/{RECORD}"):
            with suppress(OSError, ValueError, KeyError):
                yield record.stat().st_mtime, int(json.loads(record.read_text())["size"]), record.parent.name

    def _remove(self, name: str) -> bool:
        lock = try_lock(self._use(name))
        if lock is None:
            return False
        try:
            trash = self.folder / f".trash-{name}"
            remove_tree(trash)
            (self.folder / name).rename(trash)
        finally:
            os.close(lock)
        remove_tree(trash)
        return True

    def _complete(self, image: Reference) -> Path:
        return self.folder / _name(image)

    def _use(self, name: str) -> Path:
        return self.folder / f"{name}.use"


def sync_files(folder: Path) -> None:
    """All of its file system is on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _libc.syncfs(descriptor)
    finally:
        os.close(descriptor)


def _name(image: Reference) -> str:
    """By the digest alone: the same image of another registry is the same image."""
    return image.digest.removeprefix("sha256:")
