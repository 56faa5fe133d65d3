"""Volumes: made, resized, thrown into the bin, mounted. Size counts against the quota until the bin is emptied."""

import secrets
from pathlib import Path
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.storage import disk, owned
from apps.storage.models import MIB, Volume
from apps.storage.mounted import live_mounts
from apps.storage.naming import clean_name, name_taken
from apps.storage.sharing import require_manage
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource
from apps.workloads.spec import DataMount

MAX_SIZE_MIB = 1 << 30  # one pebibyte: anything larger is a typing error
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def visible(actor: Actor) -> QuerySet[Volume]:
    """Volumes outside the bin that the actor may read, newest first."""
    return owned.visible(actor, _rows())


def writable(actor: Actor) -> QuerySet[Volume]:
    """Volumes outside the bin that the actor may write to."""
    return owned.writable(actor, _rows())


def binned(actor: Actor) -> QuerySet[Volume]:
    """What the actor may take out of the bin again."""
    return owned.binned(actor, _rows())


def _rows() -> QuerySet[Volume]:
    rows: QuerySet[Volume] = Volume.objects.select_related("owner", "organisation")
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, volume_id: UUID) -> Volume:
    """One readable volume; `NotFound` otherwise."""
    return owned.get_or_not_found(visible(actor).filter(pk=volume_id))


def get_writable(actor: Actor, volume_id: UUID) -> Volume:
    """One volume to write to: `NotFound` where it cannot be seen, `Denied` where it can only be read."""
    return owned.require_writable(actor, get(actor, volume_id))


def get_binned(actor: Actor, volume_id: UUID) -> Volume:
    return owned.get_or_not_found(binned(actor).filter(pk=volume_id))


def by_code(actor: Actor, code: str) -> Volume:
    """The readable volume of this code (its SFTP name); `NotFound` otherwise."""
    return owned.get_or_not_found(visible(actor).filter(code=code))


def create(actor: Actor, *, name: str, size_mib: int, note: str = "") -> Volume:
    """An empty volume of the actor's own. Raises `Invalid`, `QuotaExceeded`, `Unavailable`; nothing is left behind."""
    actor.require(Permission.STORAGE_USE)
    disk.require_free_space()
    _check_size(size_mib)
    try:
        with transaction.atomic():
            volume: Volume = Volume.objects.create(
                organisation_id=actor.organisation(),
                owner_id=actor.person(),
                department_id=actor.department_id,
                code=_free_code(),
                name=clean_name(name),
                note=note[:200],
                size_mib=size_mib,
            )
            _reserve(volume, size_mib, 1)
            owned.log(actor, volume, "created", after={"name": volume.name, "size_mib": size_mib})
            root_of(volume).mkdir(parents=True)
    except IntegrityError as error:
        raise name_taken() from error
    volume.refresh_from_db()
    return volume


def rename(actor: Actor, volume: Volume, *, name: str, note: str | None = None) -> None:
    """Rename it. Running work keeps the old name of its mount until it ends."""
    owned.rename(actor, volume, name=name, note=note)


def resize(actor: Actor, volume: Volume, *, size_mib: int) -> None:
    """Expand, or shrink down to what is used. Raises `Invalid`, `QuotaExceeded`."""
    require_manage(actor, volume)
    _check_size(size_mib)
    with transaction.atomic():
        row = Volume.objects.select_for_update().get(pk=volume.pk)
        if size_mib * MIB < row.used_bytes:
            raise Invalid.field("size_mib", _("The files in it take more than that. Delete some first."))
        _change_reservation(row, size_mib - (row.size_mib or 0))
        Volume.objects.filter(pk=row.pk).update(size_mib=size_mib, over_since=None)
        owned.log(actor, row, "resized", before={"size_mib": row.size_mib}, after={"size_mib": size_mib})


def delete(actor: Actor, volume: Volume) -> None:
    """Move it to the bin for `owned.BIN_DAYS`. `Conflict` while live work mounts it."""
    require_manage(actor, volume)
    user = live_mounts(volume.relative_path).first()
    if user is not None:
        raise Conflict(
            _("“%(name)s” uses this volume now.") % {"name": user.name},
            hint=_("Stop it first, then delete the volume."),
        )
    owned.move_to_bin(actor, volume)


def restore(actor: Actor, volume: Volume) -> None:
    """Restore it from the bin. `Conflict` if its name has been taken meanwhile."""
    owned.restore(actor, volume, name_taken=_("Another volume has this name now."))


def purge(actor: Actor, volume: Volume) -> None:
    """Remove it for good: files, row and quota. Only from the bin."""
    require_manage(actor, volume)
    with transaction.atomic():
        row = owned.locked_in_bin(volume)
        quotas.release(
            organisation_id=row.organisation_id,
            department_id=row.department_id,
            user_id=row.owner_id,
            amounts={Resource.STORAGE_MIB: row.size_mib or 0, Resource.VOLUMES: 1},
            holder=_holder(row),
        )
        owned.log(actor, row, "purged", before={"size_mib": row.size_mib})
        root = root_of(row)
        row.delete()
        # Moved aside inside the transaction: if it fails, nothing of the row is gone either.
        disk.move_to_trash(root)


def purge_due(actor: Actor) -> int:
    """Purge volumes that have been in the bin long enough; returns how many."""
    return owned.purge_due(actor, Volume.objects.all(), purge)


def mount_of(volume: Volume, target: str, *, read_only: bool) -> DataMount:
    """The kernel's mount of a volume. Read-only if it is over its limit, whatever was chosen. `Conflict` in the bin."""
    if volume.deleted_at is not None:
        raise Conflict(_("The volume %(name)s is in the bin.") % {"name": volume.name}, hint=_("Restore it first."))
    return DataMount(volume.relative_path, target, read_only or volume.is_over)


def root_of(volume: Volume) -> Path:
    """Where the volume lies on this machine."""
    return disk.data_root() / volume.relative_path


def _check_size(size_mib: int) -> None:
    if not 1 <= size_mib <= MAX_SIZE_MIB:
        raise Invalid.field("size_mib", _("Give a size of at least 1 MiB."))


def _free_code() -> str:
    """An unused code; it may be short, because guessing one gains nothing."""
    while True:
        code = "vol-" + "".join(secrets.choice(ALPHABET) for _step in range(6))
        if not Volume._base_manager.filter(code=code).exists():
            return code


def _reserve(volume: Volume, size_mib: int, count: int) -> None:
    quotas.reserve(
        organisation_id=volume.organisation_id,
        department_id=volume.department_id,
        user_id=volume.owner_id,
        amounts={Resource.STORAGE_MIB: size_mib, **({Resource.VOLUMES: count} if count else {})},
        holder=_holder(volume),
    )


def _holder(volume: Volume) -> quotas.Holder:
    """The volume as a holder in the quota's books, which say what holds quota."""
    return quotas.Holder(HolderKind.VOLUME, volume.pk)


def _change_reservation(volume: Volume, difference: int) -> None:
    if difference > 0:
        _reserve(volume, difference, 0)
    elif difference < 0:
        quotas.release(
            organisation_id=volume.organisation_id,
            department_id=volume.department_id,
            user_id=volume.owner_id,
            amounts={Resource.STORAGE_MIB: -difference},
            holder=_holder(volume),
        )
