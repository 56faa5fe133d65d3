"""The output folder of a workload as the collectors read it: below it, and following no link."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apps.common.errors import NotFound
from apps.storage.disk import data_root
from apps.storage.safe_open import TooDeep, open_file_by_names, walk
from apps.tracking.collecting.reading.files import Format, OpenFile, format_of, prefix_of
from apps.workloads.models import Workload
from apps.workloads.spec import DataMount

MOST_FILES = 64
MOST_ENTRIES = 5_000
"""So many files and folders are looked at for those that hold metrics."""
VARIABLE = "PLSTACK_OUTPUT"


@dataclass(frozen=True, slots=True)
class MetricFile:
    path: str
    kind: Format


def output_mount(workload: Workload) -> DataMount | None:
    """The mount that its program knows as its output; None without one."""
    spec = workload.frozen_spec
    target = spec.env.get(VARIABLE)
    return next((each for each in spec.mounts if each.target == target and not each.read_only), None)


def output_root(workload: Workload) -> Path | None:
    """The folder behind that mount; None without one."""
    found = output_mount(workload)
    return None if found is None else data_root() / found.source


def metric_files(root: Path) -> list[MetricFile]:
    """Those that there are, up to `MOST_FILES`, in the order of their paths."""
    found: list[MetricFile] = []
    try:
        for count, entry in enumerate(walk(root)):
            if count >= MOST_ENTRIES or len(found) >= MOST_FILES:
                break
            kind = format_of(entry.name) if entry.is_file else None
            path = "/".join((*entry.names, entry.name))
            if kind is not None and path.isprintable() and len(path) <= 500:
                found.append(MetricFile(path, kind))
    except (NotFound, TooDeep):
        pass
    return sorted(found, key=lambda each: each.path)


@contextmanager
def opened(root: Path, path: str) -> Iterator[OpenFile]:
    """Raises `NotFound` for what is gone or no regular file."""
    names = tuple(path.split("/"))
    descriptor = open_file_by_names(root, names)
    try:
        status = os.fstat(descriptor)
        yield OpenFile(
            lambda offset, count: os.pread(descriptor, count, offset),
            status.st_size,
            status.st_mtime,
            prefix_of(names[:-1]),
        )
    finally:
        os.close(descriptor)
