"""Whole trees in and out of the content store: `capture` makes a manifest, `materialise` makes files of it again."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, ForeignObjectRel, QuerySet, Sum
from django.db.models.functions import Now

from apps.common.errors import NotFound
from apps.storage import objects
from apps.storage.models import EntryKind, Manifest, ManifestEntry
from apps.storage.safe_open import open_file_by_names, open_folder, split_path, walk

BATCH_FILES = 256
BATCH_BYTES = 256 << 20
# Told (files, bytes) so far; may raise to give up. A capture that gave up can be continued.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a tree as the walk found it. `stamp` changes whenever the content may have changed."""

    path: str
    kind: EntryKind
    mode: int
    size: int
    stamp: str
    target: str = ""


@dataclass(slots=True)
class _Known:
    """What is known from earlier manifests: hash by (path, stamp), and the rows that this manifest already has."""

    contents: dict[tuple[str, str], bytes] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)


def capture(
    *,
    organisation_id: UUID,
    root: Path,
    path: str = "",
    only: str = "",
    base: Manifest | None = None,
    unfinished: Manifest | None = None,
    links: bool = True,
    progress: Progress | None = None,
) -> Manifest:
    """The tree below `root`/`path`, or the one file `only` of that folder, as a complete manifest.

    Call inside a scope that reaches the organisation.
    Files that are unchanged since `base` (an earlier manifest of the same folder) are not read again. `unfinished` is
    continued where it stopped. Links are stored as links and never followed; without `links` they are left out. Raises
    `NotFound` if there is no such folder, OSError if the disk fails.
    """
    manifest = unfinished or Manifest.objects.create(organisation_id=organisation_id)
    known = _known(manifest, base)
    seen: set[str] = set()
    tick = None if progress is None else partial(progress, 0, 0)
    met = _walk(root, path, links) if not only else _one(root, path, only)
    while batch := _batch(met):
        seen.update(entry.path for entry in batch)
        _keep_batch(manifest, root, path, batch, known, tick)
        if progress is not None:
            progress(len(batch), sum(entry.size for entry in batch))
    gone = set(known.rows) - seen
    ManifestEntry.objects.filter(manifest=manifest, path__in=gone).delete()
    return _completed(manifest)


def _known(manifest: Manifest, base: Manifest | None) -> _Known:
    known = _Known()
    for source in filter(None, (base, manifest)):
        for path, stamp, sha256 in ManifestEntry.objects.filter(manifest=source).values_list("path", "stamp", "sha256"):
            if sha256 is not None:
                known.contents[path, stamp] = bytes(sha256)
            if source is manifest:
                known.rows[path] = stamp
    return known


def _walk(root: Path, path: str, links: bool) -> Iterator[TreeEntry]:
    """Every file, link and folder below; folders before what is in them."""
    above = split_path(path)
    for found in walk(root, above):
        inside = "/".join((*found.names[len(above) :], found.name))
        entry = _seen(found.parent, inside, found.name, found.status, links)
        if entry is not None:
            yield entry


def _one(root: Path, path: str, name: str) -> Iterator[TreeEntry]:
    with open_folder(root, path) as parent:
        try:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return
        entry = _seen(parent, name, name, found, links=False)
    if entry is not None and entry.kind is EntryKind.FILE:
        yield entry


def _seen(parent: int, path: str, name: str, found: os.stat_result, links: bool) -> TreeEntry | None:
    """The entry; None if it vanished, is a socket or pipe, or its name is not text."""
    try:
        path.encode()
        mode, stamp = stat.S_IMODE(found.st_mode) & 0o777, _stamp(found)
        if stat.S_ISDIR(found.st_mode):
            return TreeEntry(path, EntryKind.FOLDER, mode, 0, stamp)
        if stat.S_ISREG(found.st_mode):
            return TreeEntry(path, EntryKind.FILE, mode, found.st_size, stamp)
        if links and stat.S_ISLNK(found.st_mode):
            target = os.readlink(name, dir_fd=parent)
            target.encode()
            return TreeEntry(path, EntryKind.LINK, 0o777, 0, stamp, target)
    except (FileNotFoundError, UnicodeEncodeError):
        return None
    return None


def _stamp(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}:{found.st_size}"


def _batch(met: Iterator[TreeEntry]) -> list[TreeEntry]:
    batch: list[TreeEntry] = []
    size = 0
    for entry in islice(met, BATCH_FILES):
        batch.append(entry)
        size += entry.size
        if size >= BATCH_BYTES:
            break
    return batch


def _keep_batch(
    manifest: Manifest, root: Path, path: str, batch: list[TreeEntry], known: _Known, tick: objects.Tick | None
) -> None:
    """Read new contents, then write rows and references in one transaction; retry if the store lost a content."""
    todo = [entry for entry in batch if known.rows.get(entry.path) != entry.stamp]
    hashes = {entry.path: known.contents.get((entry.path, entry.stamp)) for entry in todo}
    while todo:
        staged = _stage(manifest.organisation_id, root, path, todo, hashes, tick)
        missing = _write(manifest, todo, hashes, staged)
        for entry in todo:
            if hashes.get(entry.path) in missing:
                hashes[entry.path] = None
        if not missing:
            return


def _stage(
    organisation_id: UUID,
    root: Path,
    path: str,
    todo: list[TreeEntry],
    hashes: dict[str, bytes | None],
    tick: objects.Tick | None,
) -> dict[bytes, Path]:
    """Read the files whose content is not known; fills `hashes`. Files that vanished are taken out of `todo`."""
    staged: dict[bytes, Path] = {}
    for entry in list(todo):
        if entry.kind is not EntryKind.FILE or hashes[entry.path] is not None:
            continue
        try:
            source = open_file_by_names(root, (*split_path(path), *entry.path.split("/")))
        except NotFound:
            todo.remove(entry)
            continue
        try:
            found = objects.stage(organisation_id, source, tick)
        finally:
            os.close(source)
        hashes[entry.path] = found.sha256
        staged.setdefault(found.sha256, found.path)
        if staged[found.sha256] != found.path:
            found.path.unlink()
    return staged


def _write(
    manifest: Manifest, todo: list[TreeEntry], hashes: dict[str, bytes | None], staged: dict[bytes, Path]
) -> set[bytes]:
    """Write the batch's rows unless contents are missing: then write nothing and return their hashes."""
    contents = {key: entry.size for entry in todo if (key := hashes.get(entry.path)) is not None}
    contents |= {key: place.stat().st_size for key, place in staged.items()}
    if staged:
        objects.flush_staged(manifest.organisation_id)
    try:
        with transaction.atomic():
            missing = objects.store_contents(manifest.organisation_id, contents, staged) if contents else set()
            if not missing:
                _write_rows(manifest, todo, hashes, contents)
    finally:
        for place in staged.values():
            place.unlink(missing_ok=True)
    return missing


def _write_rows(
    manifest: Manifest, todo: list[TreeEntry], hashes: dict[str, bytes | None], contents: dict[bytes, int]
) -> None:
    rows = []
    for entry in todo:
        key = hashes.get(entry.path)
        rows.append(
            ManifestEntry(
                organisation_id=manifest.organisation_id,
                manifest=manifest,
                path=entry.path,
                kind=entry.kind,
                mode=entry.mode,
                size=contents[key] if key is not None else 0,
                sha256=key,
                target=entry.target,
                stamp=entry.stamp,
            )
        )
    ManifestEntry.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["manifest", "path"],
        update_fields=["kind", "mode", "size", "sha256", "target", "stamp"],
    )
    Manifest.objects.filter(pk=manifest.pk).update(touched_at=Now())


def _completed(manifest: Manifest) -> Manifest:
    files = ManifestEntry.objects.filter(manifest=manifest, kind=EntryKind.FILE)
    sums: dict[str, Any] = files.aggregate(count=Count("pk"), total=Sum("size"))
    Manifest.objects.filter(pk=manifest.pk).update(
        complete=True, file_count=sums["count"], total_bytes=sums["total"] or 0, touched_at=Now()
    )
    manifest.refresh_from_db()
    return manifest


def drop_manifest(manifest: Manifest) -> None:
    """Drop a manifest; contents that nothing else refers to go with the next `objects.collect_garbage`."""
    ManifestEntry.objects.filter(manifest=manifest).delete()
    manifest.delete()


def unreferenced(rows: QuerySet[Manifest]) -> QuerySet[Manifest]:
    """Those that no version, snapshot or other row of any app is made of."""
    for relation in Manifest._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel) and relation.related_model is not ManifestEntry:
            users = relation.related_model._base_manager.filter(**{f"{relation.field.name}__isnull": False})
            rows = rows.exclude(pk__in=users.values(relation.field.attname))
    return rows
