"""Create a dataset version from a folder as a job; it is complete when its row appears. Compare versions."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.notifications.services import notify_user
from apps.storage import datasets, disk, drafts, frozen_trees, jobs
from apps.storage.choices import JobKind, RootKind
from apps.storage.models import MIB, Dataset, DatasetVersion, Job, Manifest, ManifestEntry
from apps.storage.roots import Root
from apps.storage.safe_open import open_folder
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource


def start(actor: Actor, dataset: Dataset, source: Root, path: str = "", *, note: str = "") -> Job:
    """Queue the next version, of the folder `path` of a tree. Raises `Denied`, `NotFound`, `Conflict`."""
    dataset = datasets.get_writable(actor, dataset.pk)
    disk.require_free_space()
    with open_folder(source.path, path):
        pass
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        if jobs.open_jobs_of(dataset.pk).exists():
            raise Conflict(_("A version of this dataset is being made."), hint=_("Wait until it is done."))
        return jobs.start(
            actor,
            kind=JobKind.VERSION,
            title=_("Version %(number)s of %(name)s") % {"number": dataset.newest + 1, "name": dataset.name},
            subject_id=dataset.pk,
            parameters={"source": [source.kind, str(source.id)], "path": path, "note": note[:200]},
            total_bytes=source.used if not path else 0,
        )


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner. Restarted after a kill, it continues its manifest."""
    dataset = datasets.get_writable(actor, ticket.job.subject_id)
    wanted: dict[str, Any] = ticket.job.parameters
    source = ticket.root(actor, wanted["source"])
    newest = datasets.versions(dataset).select_related("manifest").first()
    manifest = frozen_trees.capture_source(ticket, source, base=newest.manifest if newest is not None else None)
    version = _finish(actor, dataset, manifest, ticket)
    if source.kind is RootKind.FOLDER and version.dataset.draft_id == source.id:
        drafts.clear_draft(version.dataset)


def _finish(actor: Actor, dataset: Dataset, manifest: Manifest, ticket: jobs.Ticket) -> DatasetVersion:
    """Write the tree to the disk, then publish it by its row, with its part of the quota. Once per manifest."""
    known = DatasetVersion.objects.filter(manifest=manifest).select_related("dataset").first()
    if known is not None:
        return known
    # Named as the manifest is, so that a second try finds what the first one left.
    draft = DatasetVersion(pk=manifest.pk, organisation_id=dataset.organisation_id, dataset=dataset)
    listing = frozen_trees.lay_out(ticket, manifest, datasets.root_of(draft))
    try:
        return _publish(actor, dataset, manifest, listing, ticket.job)
    except DomainError:
        frozen_trees.discard(manifest, datasets.root_of(draft))
        raise


def _publish(actor: Actor, dataset: Dataset, manifest: Manifest, listing: bytes, job: Job) -> DatasetVersion:
    with transaction.atomic():
        row = Dataset.objects.select_for_update().get(pk=dataset.pk)
        earlier = DatasetVersion.objects.filter(dataset=row).values("manifest_id")
        shared = frozen_trees.shared_bytes(manifest, earlier)
        mib = -(-(manifest.total_bytes - shared) // MIB)
        quotas.reserve(
            organisation_id=row.organisation_id,
            department_id=row.department_id,
            user_id=row.owner_id,
            amounts={Resource.STORAGE_MIB: mib},
            holder=quotas.Holder(HolderKind.DATASET, manifest.pk),
        )
        version: DatasetVersion = DatasetVersion.objects.create(
            pk=manifest.pk,
            organisation_id=row.organisation_id,
            dataset=row,
            number=row.newest + 1,
            note=job.parameters["note"],
            manifest=manifest,
            file_count=manifest.file_count,
            total_bytes=manifest.total_bytes,
            shared_bytes=shared,
            reserved_mib=mib,
            listing_sha256=listing,
            made_by_id=job.owner_id,
        )
        Dataset.objects.filter(pk=row.pk).update(newest=version.number)
        _record(actor, row, version)
        data = {"name": row.name, "number": version.number, "dataset_id": str(row.pk)}
        notify_user(organisation_id=row.organisation_id, user_id=job.owner_id, kind="dataset.ready", data=data)
    return version


def tell_failure(job: Job, text: str) -> None:
    """Notify the person who requested a version that it failed; call it in the transaction that ends the job."""
    dataset = Dataset.objects.filter(pk=job.subject_id).first()
    if dataset is not None:
        data = {"name": dataset.name, "number": dataset.newest + 1, "dataset_id": str(dataset.pk), "text": text}
        notify_user(organisation_id=job.organisation_id, user_id=job.owner_id, kind="dataset.failed", data=data)


def _record(actor: Actor, dataset: Dataset, version: DatasetVersion) -> None:
    record(
        actor,
        action="dataset.version",
        organisation_id=dataset.organisation_id,
        target=Target("dataset", str(dataset.pk), dataset.name),
        after={"number": version.number, "bytes": version.total_bytes, "files": version.file_count},
    )


def compare(before: DatasetVersion, after: DatasetVersion, change: str) -> QuerySet[ManifestEntry]:
    """As `frozen_trees.compare` has it, of two versions."""
    return frozen_trees.compare(before.manifest, after.manifest, change)
