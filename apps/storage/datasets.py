"""Datasets: named, shared, deleted into a bin. Their versions are made by `versions` and never change."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.permissions import Permission
from apps.storage import disk, services, trees
from apps.storage.choices import Right
from apps.storage.models import Dataset, DatasetVersion
from apps.storage.mounted import live_mounts
from apps.storage.naming import clean_name, taken
from apps.storage.sharing import reaches, require_manage
from apps.storage.volumes import BIN_DAYS
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource
from apps.workloads.spec import DataMount


def visible(actor: Actor) -> QuerySet[Dataset]:
    """Datasets outside the bin that the actor may read, newest first."""
    actor.require(Permission.PLATFORM_STORAGE_VIEW if actor.platform else Permission.STORAGE_VIEW)
    return _rows().filter(reaches(actor, Dataset, Right.READ), deleted_at__isnull=True)


def writable(actor: Actor) -> QuerySet[Dataset]:
    """Datasets that the actor may add versions to."""
    needed = Permission.PLATFORM_STORAGE_MANAGE if actor.platform else Permission.STORAGE_USE
    if not actor.may(needed):
        return _rows().none()
    return _rows().filter(reaches(actor, Dataset, Right.WRITE), deleted_at__isnull=True)


def binned(actor: Actor) -> QuerySet[Dataset]:
    """What the actor may take out of the bin again."""
    rows = _rows().filter(deleted_at__isnull=False)
    if actor.platform or actor.may(Permission.STORAGE_MANAGE_ALL):
        return rows
    return rows.filter(owner_id=actor.user_id)


def _rows() -> QuerySet[Dataset]:
    rows: QuerySet[Dataset] = Dataset.objects.select_related("owner", "organisation", "draft")
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, dataset_id: UUID) -> Dataset:
    """One readable dataset; `NotFound` otherwise."""
    return _one(visible(actor).filter(pk=dataset_id))


def get_writable(actor: Actor, dataset_id: UUID) -> Dataset:
    dataset = get(actor, dataset_id)
    if not writable(actor).filter(pk=dataset.pk).exists():
        raise Denied(Permission.STORAGE_USE)
    return dataset


def get_binned(actor: Actor, dataset_id: UUID) -> Dataset:
    return _one(binned(actor).filter(pk=dataset_id))


def _one(rows: QuerySet[Dataset]) -> Dataset:
    dataset = rows.first()
    if dataset is None:
        raise NotFound
    return dataset


def versions(dataset: Dataset) -> QuerySet[DatasetVersion]:
    """Newest first."""
    rows: QuerySet[DatasetVersion] = DatasetVersion.objects.filter(dataset=dataset).select_related("made_by")
    return rows.order_by("-number")


def with_newest(rows: QuerySet[Dataset]) -> QuerySet[Dataset]:
    """Each with `newest_bytes`, the size of its newest version; for lists."""
    newest = DatasetVersion.objects.filter(dataset=OuterRef("pk"), number=OuterRef("newest"))
    return rows.annotate(newest_bytes=Subquery(newest.values("total_bytes")[:1]))


def choosable(actor: Actor) -> QuerySet[DatasetVersion]:
    """Versions that the actor may mount, newest dataset and version first."""
    rows: QuerySet[DatasetVersion] = DatasetVersion.objects.filter(dataset__in=visible(actor).order_by())
    return rows.select_related("dataset", "dataset__owner").order_by("-dataset__created_at", "dataset_id", "-number")


def get_version(actor: Actor, version_id: UUID) -> DatasetVersion:
    """One version of a readable dataset; `NotFound` otherwise."""
    version = choosable(actor).filter(pk=version_id).first()
    if version is None:
        raise NotFound
    return version


def create(actor: Actor, *, name: str, note: str = "") -> Dataset:
    """A dataset of the actor's own, without a version yet. Raises `Invalid`."""
    actor.require(Permission.STORAGE_USE)
    disk.refuse_when_full()
    try:
        with transaction.atomic():
            dataset: Dataset = Dataset.objects.create(
                organisation_id=actor.organisation(),
                owner_id=actor.person(),
                department_id=actor.department_id,
                name=clean_name(name),
                note=note[:200],
            )
            _record(actor, dataset, "created", after={"name": dataset.name})
    except IntegrityError as error:
        raise taken() from error
    dataset.refresh_from_db()
    return dataset


def rename(actor: Actor, dataset: Dataset, *, name: str, note: str | None = None) -> None:
    require_manage(actor, dataset)
    before = {"name": dataset.name, "note": dataset.note}
    after = {"name": clean_name(name), "note": dataset.note if note is None else note[:200]}
    try:
        with transaction.atomic():
            Dataset.objects.filter(pk=dataset.pk).update(**after)
            _record(actor, dataset, "renamed", before=before, after=after)
    except IntegrityError as error:
        raise taken() from error


def delete(actor: Actor, dataset: Dataset) -> None:
    """Into the bin with all versions. `Conflict` while something that lives mounts one of them."""
    require_manage(actor, dataset)
    for version in versions(dataset):
        user = live_mounts(version.relative_path).first()
        if user is not None:
            text = _("“%(name)s” uses version %(number)s now.") % {"name": user.name, "number": version.number}
            raise Conflict(text, hint=_("Stop it first, then delete the dataset."))
    with transaction.atomic():
        now = db_now()
        gone = Dataset.objects.filter(pk=dataset.pk, deleted_at__isnull=True)
        if gone.update(deleted_at=now, purge_at=now + timedelta(days=BIN_DAYS)):
            _record(actor, dataset, "deleted")


def restore(actor: Actor, dataset: Dataset) -> None:
    """Out of the bin again. `Conflict` where its name has been taken meanwhile."""
    require_manage(actor, dataset)
    try:
        with transaction.atomic():
            if Dataset.objects.filter(pk=dataset.pk, deleted_at__isnull=False).update(deleted_at=None, purge_at=None):
                _record(actor, dataset, "restored")
    except IntegrityError as error:
        raise Conflict(
            _("Another dataset has this name now."), hint=_("Rename that one first, then restore this one.")
        ) from error


def purge(actor: Actor, dataset: Dataset) -> None:
    """For good: versions, rows and what they held of the quota. Contents go with the next collection."""
    require_manage(actor, dataset)
    with transaction.atomic():
        row = Dataset.objects.select_for_update().filter(pk=dataset.pk, deleted_at__isnull=False).first()
        if row is None:
            raise Conflict(_("Only what is in the bin can be removed for good."))
        roots = [root_of(version) for version in versions(row)]
        for version in versions(row):
            _drop(row, version)
        draft = row.draft
        _record(actor, row, "purged")
        row.delete()
        if draft is not None:
            services.remove_folder(draft)
        for root in roots:
            disk.discard(root)


def _drop(dataset: Dataset, version: DatasetVersion) -> None:
    quotas.release(
        organisation_id=dataset.organisation_id,
        department_id=dataset.department_id,
        user_id=dataset.owner_id,
        amounts={Resource.STORAGE_MIB: version.reserved_mib},
        holder=quotas.Holder(HolderKind.DATASET, version.pk),
    )
    manifest = version.manifest
    version.delete()
    trees.forget(manifest)


def purge_due(actor: Actor) -> int:
    """Empty the bin of what has lain there long enough; the number of datasets removed."""
    due = list(Dataset.objects.filter(purge_at__lte=db_now())[:50])
    for dataset in due:
        purge(actor, dataset)
    return len(due)


def mount_of(version: DatasetVersion, target: str) -> DataMount:
    """The kernel's mount of a version: always read-only. `Conflict` where its dataset is in the bin."""
    if version.dataset.deleted_at is not None:
        text = _("The dataset %(name)s is in the bin.") % {"name": version.dataset.name}
        raise Conflict(text, hint=_("Restore it first."))
    return DataMount(version.relative_path, target, read_only=True)


def root_of(version: DatasetVersion) -> Path:
    """Where the version's tree lies on this machine."""
    return disk.data_root() / version.relative_path


def _record(
    actor: Actor,
    dataset: Dataset,
    verb: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    record(
        actor,
        action=f"dataset.{verb}",
        organisation_id=dataset.organisation_id,
        target=Target("dataset", str(dataset.pk), dataset.name),
        before=before,
        after=after,
    )
