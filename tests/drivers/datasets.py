"""A version of a dataset as the platform lays it down, and a copy of it that is being made."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from apps.workloads.drivers.base import MountCopy
from apps.workloads.drivers.local import dataset_copy
from apps.workloads.drivers.local.dataset_cache import DatasetCache, Room

TARGET = "/datasets/birds"
READS = (
    "import os, sys\n"
    "here = '/datasets/birds' if os.path.isdir('/datasets/birds') else os.environ['PLACE']\n"
    "print(open(here + '/a/one').read(), len(open(here + '/big', 'rb').read()))\n"
    "try: open(here + '/a/one', 'w'); print('written')\n"
    "except OSError: print('read-only')\n"
)
FILES = {"a/one": b"first", "big": bytes(range(256)) * 4000, "run.sh": b"#!/bin/sh\n"}


def noop(*_: object) -> None:
    pass


def published(data: Path, files: dict[str, bytes] | None = None, cache_mib: int = 100) -> tuple[Path, MountCopy]:
    """A version as the platform lays it down: its tree, and its listing beside."""
    files = FILES if files is None else files
    name = uuid4().hex
    tree, listing = data / "version" / name, data / "listings" / name
    lines = [json.dumps(["empty", 0, None, False])]
    (tree / "empty").mkdir(parents=True)
    for path, content in sorted(files.items()):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
        lines.append(json.dumps([path, len(content), hashlib.sha256(content).hexdigest(), path.endswith(".sh")]))
    listing.parent.mkdir(exist_ok=True)
    listing.write_text("\n".join(lines) + "\n")
    digest = hashlib.sha256(listing.read_bytes()).hexdigest()
    size = sum(map(len, files.values()))
    return tree, MountCopy(str(listing.relative_to(data)), digest, "birds v3", size, len(files), cache_mib)


def making(tmp_path: Path, tree: Path, copy: MountCopy, **changes: Any) -> dataset_copy.Making:
    cache = DatasetCache(tmp_path / "home")
    cache.folder.mkdir(parents=True, exist_ok=True)
    assert cache.make_room("x", copy) is Room.ENOUGH
    there = replace(copy, listing=str(tmp_path / copy.listing))
    fields = {"marker": None, "tick": noop, "report": noop, **changes}
    return dataset_copy.Making(there, tree, cache.draft_of("x"), **fields)


def contents(tree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
