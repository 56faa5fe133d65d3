"""Freeze a folder, or one file of it, as a tree that machines can mount and nobody changes: what versions are made of.

A job does it, and records the manifest that it has begun: restarted after a kill, it continues that one.
"""

from pathlib import Path
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.storage import disk, jobs, listings, operations, trees
from apps.storage.models import EntryKind, Job, Manifest, ManifestEntry
from apps.storage.rebuilding import materialise
from apps.storage.roots import Root


def capture_source(ticket: jobs.Ticket, source: Root, *, base: Manifest | None) -> Manifest:
    """The job's `path` below the source, or the one file `only` in it, as a complete manifest.

    Files that are unchanged since `base` are not read again. Raises `Invalid` where there is no file.
    """
    wanted: dict[str, Any] = ticket.job.parameters
    manifest = _begun(ticket)
    if not manifest.complete:
        with operations.disk_errors_as_refusals():
            manifest = trees.capture(
                organisation_id=ticket.job.organisation_id,
                root=source.path,
                path=wanted["path"],
                only=wanted.get("only", ""),
                base=base,
                unfinished=manifest,
                links=False,
                progress=ticket.tell,
            )
    if not manifest.file_count:
        trees.drop_manifest(manifest)
        raise Invalid(_("There is no file in this folder."))
    return manifest


def _begun(ticket: jobs.Ticket) -> Manifest:
    """The manifest that this job has begun, or a new one whose id the job records."""
    wanted: dict[str, Any] = ticket.job.parameters
    known = Manifest.objects.filter(pk=wanted["manifest"]).first() if "manifest" in wanted else None
    if known is not None:
        return known
    manifest: Manifest = Manifest.objects.create(organisation_id=ticket.job.organisation_id)
    parameters = {**wanted, "manifest": str(manifest.pk)}
    Job.objects.filter(pk=ticket.job.pk).update(parameters=parameters)
    return manifest


def lay_out(ticket: jobs.Ticket, manifest: Manifest, target: Path) -> bytes:
    """Write the tree, of links to the store, and the listing of what it holds; returns the listing's SHA-256.

    The last part of `target` is the id under which the listing is found. May be repeated.
    """
    materialise(manifest, target, read_only=True, progress=lambda _files, _bytes: ticket.tell(0, 0))
    return listings.write_listing(manifest, target.name)


def discard(manifest: Manifest, target: Path) -> None:
    """Remove what `capture_source` and `lay_out` made."""
    listings.remove_listing(manifest.organisation_id, target.name)
    disk.move_to_trash(target)
    trees.drop_manifest(manifest)


def shared_bytes(manifest: Manifest, earlier: QuerySet[Any]) -> int:
    """Bytes of the manifest's contents that one of the `earlier` manifests, given by id, holds too."""
    others = ManifestEntry.objects.filter(manifest__in=earlier, sha256=OuterRef("sha256"))
    mine = ManifestEntry.objects.filter(manifest=manifest, kind=EntryKind.FILE)
    total: int | None = mine.filter(Exists(others)).aggregate(total=Sum("size"))["total"]
    return total or 0


def compare(before: Manifest, after: Manifest, change: str) -> QuerySet[ManifestEntry]:
    """Files of `after` that were `added` or `changed` since `before`, or files of `before` that were `removed`."""
    old = ManifestEntry.objects.filter(manifest=before, kind=EntryKind.FILE)
    new = ManifestEntry.objects.filter(manifest=after, kind=EntryKind.FILE)
    if change == "removed":
        return old.filter(~Exists(new.filter(path=OuterRef("path")))).order_by("path")
    if change == "added":
        return new.filter(~Exists(old.filter(path=OuterRef("path")))).order_by("path")
    other = old.filter(path=OuterRef("path")).exclude(sha256=OuterRef("sha256"))
    return new.filter(Exists(other)).order_by("path")
