"""The recycle bin: deleted environments keep their files for some days, then they are purged."""

from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.envs import states
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.permissions import require_manage
from apps.envs.policy import EnvironmentSettings
from apps.envs.services.running import stop_workload
from apps.envs.services.shared import locked, log, tell_pages
from apps.envs.services.snapshots import delete_snapshot
from apps.storage import services as storage
from apps.tenants import settings
from apps.workloads.choices import Reason

PURGED_AT_ONCE = 20


def delete(actor: Actor, environment: Environment) -> None:
    """Move it to the bin: it is stopped, its files and snapshots are kept until `purge_at`."""
    require_manage(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        if row.deleted_at is not None:
            return
        states.cancel_operations(row, str(_("It was moved to the recycle bin.")))
        stop_workload(actor, row, Reason.RECYCLED)
        now = db_now()
        days = settings.get(EnvironmentSettings).bin_days
        Environment.objects.filter(pk=row.pk).update(deleted_at=now, purge_at=now + timedelta(days=days))
        log(actor, row, "recycled")
        tell_pages(row)


def restore(actor: Actor, environment: Environment) -> None:
    """Restore it from the bin, stopped, with all its files and snapshots."""
    require_manage(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        if row.deleted_at is None:
            return
        Environment.objects.filter(pk=row.pk).update(deleted_at=None, purge_at=None)
        log(actor, row, "restored")
        tell_pages(row)


def purge(actor: Actor, environment: Environment) -> None:
    """Remove it for good: files, snapshots and row. Only from the bin, and only once nothing of it runs any more."""
    require_manage(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        if row.deleted_at is None:
            raise Conflict(_("Only what is in the recycle bin can be removed for good."))
        if row.workload is not None and row.workload.is_live:
            raise Conflict(_("It is still stopping."), hint=_("Try again in a moment."))
        log(actor, row, "purged", before={"code": row.code, "owner": row.owner_id})
        Operation.objects.filter(environment=row).delete()
        for snapshot in Snapshot.objects.filter(environment=row).select_related("manifest"):
            delete_snapshot(snapshot)
        home = row.home
        row.delete()
        storage.remove_folder(home)


def purge_due(actor: Actor) -> int:
    """Purge environments that have been in the bin long enough; returns how many."""
    gone = 0
    for environment in Environment.objects.filter(purge_at__lte=db_now())[:PURGED_AT_ONCE]:
        if environment.workload is None or not environment.workload.is_live:
            purge(actor, environment)
            gone += 1
    return gone
