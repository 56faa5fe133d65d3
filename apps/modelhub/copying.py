"""Copy the contents of a version into the store, as a job on files: it is ready when that is done."""

import hashlib
from collections.abc import Iterator

from django.db import transaction
from django.db.models.functions import Collate

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.modelhub import selectors, states
from apps.modelhub.choices import Format, VersionState
from apps.modelhub.contents import Contents
from apps.modelhub.models import Model, ModelVersion
from apps.modelhub.recognising.found import Found
from apps.modelhub.recognising.readers import recognise
from apps.notifications.services import notify_user
from apps.storage import disk, drafts, frozen_trees, jobs
from apps.storage.choices import RootKind
from apps.storage.disk import data_root
from apps.storage.models import MIB, EntryKind, Job, Manifest, ManifestEntry
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner. Restarted after a kill, it goes on where it was."""
    version = selectors.version(actor, ticket.job.subject_id)
    selectors.get_writable(actor, version.model_id)
    if version.state != VersionState.COPYING:
        return
    source = ticket.root(actor, ticket.job.parameters["source"])
    newest = selectors.versions(version.model).filter(state=VersionState.READY).select_related("manifest").first()
    manifest = frozen_trees.capture_source(ticket, source, base=newest.manifest if newest is not None else None)
    target = data_root() / version.relative_path
    listing = frozen_trees.lay_out(ticket, manifest, target)
    found = recognise(Contents(manifest, target))
    try:
        _publish(actor, version, manifest, listing, found)
    except DomainError:
        frozen_trees.discard(manifest, target)
        raise
    if source.kind is RootKind.FOLDER and version.model.draft_id == source.id:
        drafts.clear_draft(version.model)


def _publish(actor: Actor, version: ModelVersion, manifest: Manifest, listing: bytes, found: Found) -> None:
    with transaction.atomic():
        model = Model.objects.select_for_update().get(pk=version.model_id)
        earlier = ModelVersion.objects.filter(model=model, manifest__isnull=False).values("manifest_id")
        shared = frozen_trees.shared_bytes(manifest, earlier)
        mib = -(-(manifest.total_bytes - shared) // MIB)
        quotas.reserve(
            organisation_id=model.organisation_id,
            department_id=model.department_id,
            user_id=model.owner_id,
            amounts={Resource.STORAGE_MIB: mib},
            holder=quotas.Holder(HolderKind.MODEL, version.pk),
        )
        contents = states.Contents(
            manifest=manifest,
            shared_bytes=shared,
            reserved_mib=mib,
            digest=digest_of(manifest),
            listing=listing,
            format=Format(found.format),
            framework=version.framework or found.framework,
            executes_code=found.executes_code,
            signature=found.signature(),
            facts=dict(found.facts),
        )
        if not states.become_ready(version.pk, contents):
            raise jobs.JobLost
        _tell(actor, version, manifest)


def digest_of(manifest: Manifest) -> str:
    """Of its files, as `storage.digests` computes it from a folder: anybody with a copy can check it."""
    total = hashlib.sha256()
    for line in _lines(manifest):
        total.update(line)
    return total.hexdigest()


def _lines(manifest: Manifest) -> Iterator[bytes]:
    rows = ManifestEntry.objects.filter(manifest=manifest, kind=EntryKind.FILE).order_by(Collate("path", "C"))
    for path, sha256 in rows.values_list("path", "sha256").iterator(chunk_size=2000):
        yield f"{bytes(sha256 or b'').hex()}  {path}\n".encode()


def _tell(actor: Actor, version: ModelVersion, manifest: Manifest) -> None:
    record(
        actor,
        action="model.version",
        organisation_id=version.organisation_id,
        target=Target("model", str(version.model_id), version.model.name),
        after={"number": version.number, "bytes": manifest.total_bytes, "files": manifest.file_count},
    )
    notify_user(
        organisation_id=version.organisation_id, user_id=version.made_by_id, kind="model.ready", data=_facts(version)
    )


def _failed(job: Job, text: str) -> None:
    version = ModelVersion.objects.filter(pk=job.subject_id).select_related("model").first()
    if version is not None and states.fail(version.pk, text):
        disk.move_to_trash(data_root() / version.relative_path)
        data = {**_facts(version), "text": text}
        notify_user(organisation_id=job.organisation_id, user_id=job.owner_id, kind="model.failed", data=data)


def _facts(version: ModelVersion) -> dict[str, str | int]:
    return {"name": version.model.name, "number": version.number, "version_id": str(version.pk)}


JOB = jobs.FileJob(run, _failed)
