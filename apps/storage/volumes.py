"""Volumes: made, resized, thrown into the bin, mounted. Size counts against the quota until the bin is emptied."""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.storage import disk
from apps.storage.choices import Right
from apps.storage.models import MIB, Volume
from apps.storage.mounted import live_mounts
from apps.storage.naming import clean_name, taken
from apps.storage.sharing import reaches, require_manage
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource
from apps.workloads.spec import DataMount

BIN_DAYS = 30
MAX_SIZE_MIB = 1 << 30  # one pebibyte: a typing slip, not a wish
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def visible(actor: Actor) -> QuerySet[Volume]:
    """Volumes outside the bin that the actor may read, newest first."""
    actor.require(Permission.PLATFORM_STORAGE_VIEW if actor.platform else Permission.STORAGE_VIEW)
    return _rows().filter(reaches(actor, Volume, Right.READ), deleted_at__isnull=True)


def writable(actor: Actor) -> QuerySet[Volume]:
    """Volumes outside the bin that the actor may write to."""
    needed = Permission.PLATFORM_STORAGE_MANAGE if actor.platform else Permission.STORAGE_USE
    if not actor.may(needed):
        return _rows().none()
    return _rows().filter(reaches(actor, Volume, Right.WRITE), deleted_at__isnull=True)


def binned(actor: Actor) -> QuerySet[Volume]:
    """What the actor may take out of the bin again."""
    rows = _rows().filter(deleted_at__isnull=False)
    if actor.platform or actor.may(Permission.STORAGE_MANAGE_ALL):
        return rows
    return rows.filter(owner_id=actor.user_id)


def _rows() -> QuerySet[Volume]:
    rows: QuerySet[Volume] = Volume.objects.select_related("owner", "organisation")
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, volume_id: UUID) -> Volume:
    """One readable volume; `NotFound` otherwise."""
    return _one(visible(actor).filter(pk=volume_id))


def get_writable(actor: Actor, volume_id: UUID) -> Volume:
    """One volume to write to: `NotFound` where it cannot be seen, `Denied` where it can only be read."""
    volume = get(actor, volume_id)
    if not writable(actor).filter(pk=volume.pk).exists():
        raise Denied(Permission.STORAGE_USE)
    return volume


def get_binned(actor: Actor, volume_id: UUID) -> Volume:
    return _one(binned(actor).filter(pk=volume_id))


def by_code(actor: Actor, code: str) -> Volume:
    """The readable volume of this code (its SFTP name); `NotFound` otherwise."""
    return _one(visible(actor).filter(code=code))


def _one(rows: QuerySet[Volume]) -> Volume:
    volume = rows.first()
    if volume is None:
        raise NotFound
    return volume


def create(actor: Actor, *, name: str, size_mib: int, note: str = "") -> Volume:
    """An empty volume of the actor's own. Raises `Invalid`, `QuotaExceeded`, `Unavailable`; nothing is left behind."""
    actor.require(Permission.STORAGE_USE)
    disk.refuse_when_full()
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
            _record(actor, volume, "created", after={"name": volume.name, "size_mib": size_mib})
            root_of(volume).mkdir(parents=True)
    except IntegrityError as error:
        raise taken() from error
    volume.refresh_from_db()
    return volume


def rename(actor: Actor, volume: Volume, *, name: str, note: str | None = None) -> None:
    """What runs already keeps the old name of the mount until it ends."""
    require_manage(actor, volume)
    before = {"name": volume.name, "note": volume.note}
    after = {"name": clean_name(name), "note": volume.note if note is None else note[:200]}
    try:
        with transaction.atomic():
            Volume.objects.filter(pk=volume.pk).update(**after)
            _record(actor, volume, "renamed", before=before, after=after)
    except IntegrityError as error:
        raise taken() from error


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
        _record(actor, row, "resized", before={"size_mib": row.size_mib}, after={"size_mib": size_mib})


def delete(actor: Actor, volume: Volume) -> None:
    """Into the bin, from which it can be restored for `BIN_DAYS`. `Conflict` while something that lives mounts it."""
    require_manage(actor, volume)
    user = live_mounts(volume.relative_path).first()
    if user is not None:
        raise Conflict(
            _("“%(name)s” uses this volume now.") % {"name": user.name},
            hint=_("Stop it first, then delete the volume."),
        )
    with transaction.atomic():
        now = db_now()
        gone = Volume.objects.filter(pk=volume.pk, deleted_at__isnull=True)
        if gone.update(deleted_at=now, purge_at=now + timedelta(days=BIN_DAYS)):
            _record(actor, volume, "deleted")


def restore(actor: Actor, volume: Volume) -> None:
    """Out of the bin again. `Conflict` where its name has been taken meanwhile."""
    require_manage(actor, volume)
    try:
        with transaction.atomic():
            if Volume.objects.filter(pk=volume.pk, deleted_at__isnull=False).update(deleted_at=None, purge_at=None):
                _record(actor, volume, "restored")
    except IntegrityError as error:
        raise Conflict(
            _("Another volume has this name now."), hint=_("Rename that one first, then restore this one.")
        ) from error


def purge(actor: Actor, volume: Volume) -> None:
    """For good: the files, the row and what it held of the quota. Only from the bin."""
    require_manage(actor, volume)
    with transaction.atomic():
        row = Volume.objects.select_for_update().filter(pk=volume.pk, deleted_at__isnull=False).first()
        if row is None:
            raise Conflict(_("Only what is in the bin can be removed for good."))
        quotas.release(
            organisation_id=row.organisation_id,
            department_id=row.department_id,
            user_id=row.owner_id,
            amounts={Resource.STORAGE_MIB: row.size_mib or 0, Resource.VOLUMES: 1},
            holder=_holder(row),
        )
        _record(actor, row, "purged", before={"size_mib": row.size_mib})
        root = root_of(row)
        row.delete()
        # Moved aside inside the transaction: if it fails, nothing of the row is gone either.
        disk.discard(root)


def purge_due(actor: Actor) -> int:
    """Empty the bin of what has lain there long enough; the number of volumes removed."""
    due = list(Volume.objects.filter(purge_at__lte=db_now())[:50])
    for volume in due:
        purge(actor, volume)
    return len(due)


def mount_of(volume: Volume, target: str, *, read_only: bool) -> DataMount:
    """The kernel's mount of a volume. Over its limit it is read-only whatever was wished. `Conflict` in the bin."""
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
    """A code that no volume has; guessing one helps nobody, so it may be short."""
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
    """The volume in the books of quota, for who asks what holds it."""
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


def _record(
    actor: Actor,
    volume: Volume,
    verb: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    record(
        actor,
        action=f"volume.{verb}",
        organisation_id=volume.organisation_id,
        target=Target("volume", str(volume.pk), volume.name),
        before=before,
        after=after,
    )
