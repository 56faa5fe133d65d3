"""What volumes, datasets and models have in common: who may see and change which, their names, and their bin."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.permissions import Permission
from apps.storage.choices import Right
from apps.storage.models import Owned
from apps.storage.naming import clean_name, name_taken
from apps.storage.sharing import accessible_rows, require_manage

BIN_DAYS = 30
PURGED_AT_ONCE = 50

Thing = TypeVar("Thing", bound=Owned)


def visible(actor: Actor, rows: QuerySet[Thing]) -> QuerySet[Thing]:
    """Rows outside the bin that the actor may read."""
    actor.require(Permission.PLATFORM_STORAGE_VIEW if actor.platform else rows.model.rights.view)
    return rows.filter(accessible_rows(actor, rows.model, Right.READ), deleted_at__isnull=True)


def writable(actor: Actor, rows: QuerySet[Thing]) -> QuerySet[Thing]:
    """Rows outside the bin that the actor may write to."""
    needed = Permission.PLATFORM_STORAGE_MANAGE if actor.platform else rows.model.rights.use
    if not actor.may(needed):
        return rows.none()
    return rows.filter(accessible_rows(actor, rows.model, Right.WRITE), deleted_at__isnull=True)


def binned(actor: Actor, rows: QuerySet[Thing]) -> QuerySet[Thing]:
    """Rows in the bin that the actor may restore."""
    rows = rows.filter(deleted_at__isnull=False)
    if actor.platform or actor.may(rows.model.rights.manage_all):
        return rows
    return rows.filter(owner_id=actor.user_id)


def get_or_not_found(rows: QuerySet[Thing]) -> Thing:
    """The only row; `NotFound` if there is none."""
    thing = rows.first()
    if thing is None:
        raise NotFound
    return thing


def require_writable(actor: Actor, thing: Thing) -> Thing:
    """The object itself; `Denied` if it can only be read."""
    if not writable(actor, _rows_of(thing)).exists():
        raise Denied(thing.rights.use)
    return thing


def rename(actor: Actor, thing: Thing, *, name: str, note: str | None = None) -> None:
    """Raises `Invalid` for a name that is taken or cannot be one."""
    require_manage(actor, thing)
    before = {"name": thing.name, "note": thing.note}
    after = {"name": clean_name(name), "note": thing.note if note is None else note[:200]}
    try:
        with transaction.atomic():
            _rows_of(thing).update(**after)
            log(actor, thing, "renamed", before=before, after=after)
    except IntegrityError as error:
        raise name_taken() from error


def move_to_bin(actor: Actor, thing: Thing) -> None:
    """Move it to the bin, from which it can be restored for `BIN_DAYS`. The caller has checked that nothing uses it."""
    with transaction.atomic():
        now = db_now()
        gone = _rows_of(thing).filter(deleted_at__isnull=True)
        if gone.update(deleted_at=now, purge_at=now + timedelta(days=BIN_DAYS)):
            log(actor, thing, "deleted")


def restore(actor: Actor, thing: Thing, *, name_taken: str | Promise) -> None:
    """Out of the bin again. `Conflict` with the text `name_taken` if its name has been taken meanwhile."""
    require_manage(actor, thing)
    try:
        with transaction.atomic():
            if _rows_of(thing).filter(deleted_at__isnull=False).update(deleted_at=None, purge_at=None):
                log(actor, thing, "restored")
    except IntegrityError as error:
        raise Conflict(name_taken, hint=_("Rename that one first, then restore this one.")) from error


def locked_in_bin(thing: Thing) -> Thing:
    """The row, locked; `Conflict` if it is not in the bin."""
    row = _rows_of(thing).select_for_update().filter(deleted_at__isnull=False).first()
    if row is None:
        raise Conflict(_("Only what is in the bin can be removed for good."))
    return row


def purge_due(actor: Actor, rows: QuerySet[Thing], purge: Callable[[Actor, Thing], None]) -> int:
    """Purge what has been in the bin long enough; returns how many."""
    due = list(rows.filter(purge_at__lte=db_now())[:PURGED_AT_ONCE])
    for thing in due:
        purge(actor, thing)
    return len(due)


def log(
    actor: Actor,
    thing: Thing,
    verb: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """The audit row, `<model>.<verb>`."""
    kind = str(thing._meta.model_name)
    record(
        actor,
        action=f"{kind}.{verb}",
        organisation_id=thing.organisation_id,
        target=Target(kind, str(thing.pk), thing.name),
        before=before,
        after=after,
    )


def _rows_of(thing: Thing) -> QuerySet[Thing]:
    rows: QuerySet[Thing] = type(thing).objects.filter(pk=thing.pk)
    return rows
