"""Datasets: named, shared, deleted into a bin. Their versions are made by `versions` and never change."""

from pathlib import Path
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission
from apps.storage import disk, listings, owned, services, trees
from apps.storage.models import Dataset, DatasetVersion
from apps.storage.mounted import live_mounts
from apps.storage.naming import clean_name, name_taken
from apps.storage.sharing import require_manage
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource
from apps.workloads.spec import DataMount


def visible(actor: Actor) -> QuerySet[Dataset]:
    """Datasets outside the bin that the actor may read, newest first."""
    return owned.visible(actor, _rows())


def writable(actor: Actor) -> QuerySet[Dataset]:
    """Datasets that the actor may add versions to."""
    return owned.writable(actor, _rows())


def binned(actor: Actor) -> QuerySet[Dataset]:
    """Datasets in the bin that the actor may restore."""
    return owned.binned(actor, _rows())


def _rows() -> QuerySet[Dataset]:
    rows: QuerySet[Dataset] = Dataset.objects.select_related("owner", "organisation", "draft")
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, dataset_id: UUID) -> Dataset:
    """One readable dataset; `NotFound` otherwise."""
    return owned.get_or_not_found(visible(actor).filter(pk=dataset_id))


def get_writable(actor: Actor, dataset_id: UUID) -> Dataset:
    """One dataset to write to: `NotFound` if it cannot be seen, `Denied` if it can only be read."""
    return owned.require_writable(actor, get(actor, dataset_id))


def get_binned(actor: Actor, dataset_id: UUID) -> Dataset:
    return owned.get_or_not_found(binned(actor).filter(pk=dataset_id))


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
    disk.require_free_space()
    try:
        with transaction.atomic():
            dataset: Dataset = Dataset.objects.create(
                organisation_id=actor.organisation(),
                owner_id=actor.person(),
                department_id=actor.department_id,
                name=clean_name(name),
                note=note[:200],
            )
            owned.log(actor, dataset, "created", after={"name": dataset.name})
    except IntegrityError as error:
        raise name_taken() from error
    dataset.refresh_from_db()
    return dataset


def rename(actor: Actor, dataset: Dataset, *, name: str, note: str | None = None) -> None:
    owned.rename(actor, dataset, name=name, note=note)


def delete(actor: Actor, dataset: Dataset) -> None:
    """Move it to the bin with all versions. `Conflict` while live work mounts one of them."""
    require_manage(actor, dataset)
    for version in versions(dataset):
        user = live_mounts(version.relative_path).first()
        if user is not None:
            text = _("“%(name)s” uses version %(number)s now.") % {"name": user.name, "number": version.number}
            raise Conflict(text, hint=_("Stop it first, then delete the dataset."))
    owned.move_to_bin(actor, dataset)


def restore(actor: Actor, dataset: Dataset) -> None:
    """Restore it from the bin. `Conflict` if its name has been taken meanwhile."""
    owned.restore(actor, dataset, name_taken=_("Another dataset has this name now."))


def purge(actor: Actor, dataset: Dataset) -> None:
    """Remove it for good: versions, rows and their quota. The next collection removes the contents."""
    require_manage(actor, dataset)
    with transaction.atomic():
        row = owned.locked_in_bin(dataset)
        ids = [version.pk for version in versions(row)]
        roots = [root_of(version) for version in versions(row)]
        for version in versions(row):
            _drop(row, version)
        draft = row.draft
        owned.log(actor, row, "purged")
        organisation_id = row.organisation_id
        row.delete()
        if draft is not None:
            services.remove_folder(draft)
        for root in roots:
            disk.move_to_trash(root)
        for version_id in ids:
            listings.remove_listing(organisation_id, version_id)


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
    trees.drop_manifest(manifest)


def purge_due(actor: Actor) -> int:
    """Purge datasets that have been in the bin long enough; returns how many."""
    return owned.purge_due(actor, Dataset.objects.all(), purge)


def mount_of(version: DatasetVersion, target: str) -> DataMount:
    """The kernel's mount of a version: always read-only. `Conflict` if its dataset is in the bin."""
    if version.dataset.deleted_at is not None:
        text = _("The dataset %(name)s is in the bin.") % {"name": version.dataset.name}
        raise Conflict(text, hint=_("Restore it first."))
    return DataMount(version.relative_path, target, read_only=True)


def root_of(version: DatasetVersion) -> Path:
    """Where the version's tree lies on this machine."""
    return disk.data_root() / version.relative_path
