"""Unpacked images of a machine: `images/<digest>/` with `root` and `image.json`, there only once it is complete.

Standard library only.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import Reference
from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.oci.manifest import ImageConfig
from apps.workloads.drivers.local.tree_store import TreeStore

FOLDER, ROOT, RECORD = "images", "root", "image.json"
MANIFEST, CONFIG = "manifest.json", "config.json"


class Store(TreeStore):
    """Below a home."""

    parts = (".new-", ".blobs-")

    def __init__(self, home: Path) -> None:
        super().__init__(home / FOLDER, RECORD)

    def tree(self, image: Reference) -> Path:
        return self.complete(_name(image)) / ROOT

    def draft(self, image: Reference) -> Path:
        """Where it is unpacked first; of no worth to anybody once the process is gone that did so."""
        return self.draft_of(_name(image))

    def blobs(self, image: Reference) -> Path:
        """What was fetched of it, with which a fetch that was cut off goes on."""
        return self.folder / f".blobs-{_name(image)}"

    def has(self, image: Reference) -> bool:
        return self.is_complete(_name(image))

    def config(self, image: Reference) -> ImageConfig:
        """Of a complete one. Raises OSError, ValueError."""
        fields = json.loads((self.complete(_name(image)) / RECORD).read_text())
        return ImageConfig(**{**fields, "entrypoint": tuple(fields["entrypoint"]), "cmd": tuple(fields["cmd"])})

    def hold(self, image: Reference) -> int:
        """A descriptor that keeps it from being removed, until it is closed or its process is gone. Raises OSError."""
        return self.hold_tree(_name(image))

    def try_to_make(self, image: Reference) -> int | None:
        """The right to make it, as long as the descriptor is open; None while somebody else has it."""
        return self.try_to_make_tree(_name(image))

    def documents(self, image: Reference) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Manifest and configuration as they were fetched; None of one that was made before they were kept."""
        folder = self.complete(_name(image))
        try:
            manifest, config = (json.loads((folder / name).read_bytes()) for name in (MANIFEST, CONFIG))
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
        self.publish(_name(image))
        remove_tree(self.blobs(image))

    def make_room(self, cache_mib: int) -> None:
        """Removes those used longest ago until the rest keeps within `cache_mib`; never one that runs."""
        total = 0
        for _, size, name in sorted(self.kept(), reverse=True):
            total += size
            if total > cache_mib * 1024 * 1024 and self.remove(name):
                total -= size


def _name(image: Reference) -> str:
    """By the digest alone: the same image of another registry is the same image."""
    return image.digest.removeprefix("sha256:")
