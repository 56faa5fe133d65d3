"""The timed shutdown: set, changed and cancelled by people, told before, carried out by a loop.

The row says the next moment. The loop moves it on, or clears it, in the transaction that asks for the stop, so each
moment stops once, whoever dies and whoever else looks. What is saved and then stopped can be called off until its files
are saved.
"""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.envs.models import Environment
from apps.envs.permissions import require_manage
from apps.envs.services.shared import locked, log, refuse_binned, tell_pages
from apps.envs.shutdown_times import Shutdown, next_at, zone_named
from apps.notifications.services import notify_user
from apps.workloads import saving
from apps.workloads.choices import LIVE, Reason, Status
from apps.workloads.idle_rule import WARN_BEFORE
from apps.workloads.longest import saving_time

AT_ONCE = 200


def set_shutdown(actor: Actor, environment: Environment, wanted: Shutdown | None) -> datetime | None:
    """Save and stop it then, or every day then; None: not any more. Returns the next moment.

    A stop that is being prepared under the former time is called off. Raises `Invalid`, `Conflict` (in the bin).
    """
    require_manage(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        refuse_binned(row)
        columns = _columns(wanted, db_now())
        before = _logged(row)
        Environment.objects.filter(pk=row.pk).update(**columns)
        if row.workload is not None:
            saving.call_off(actor, row.workload, Reason.TIMED)
        row.refresh_from_db(fields=list(columns))
        log(actor, row, "shutdown_set" if wanted else "shutdown_cancelled", before=before, after=_logged(row))
        tell_pages(row)
    return row.shutdown_at


def _columns(wanted: Shutdown | None, now: datetime) -> dict[str, Any]:
    if wanted is None:
        return {"shutdown_at": None, "shutdown_time": None, "shutdown_zone": ""}
    return {
        "shutdown_at": wanted.first(now),
        "shutdown_time": wanted.at if wanted.daily else None,
        "shutdown_zone": wanted.zone,
    }


def _logged(row: Environment) -> dict[str, Any]:
    at, daily = row.shutdown_at, row.shutdown_time
    return {
        "at": at.isoformat() if at else None,
        "daily": daily.isoformat("minutes") if daily else None,
        "zone": row.shutdown_zone,
    }


def sweep(actor: Actor) -> int:
    """Tell owners of what stops soon, and have saved and stopped what is due; how many were asked to stop."""
    now = db_now()
    near = Environment.objects.filter(shutdown_at__lte=now + WARN_BEFORE, deleted_at__isnull=True)
    soon = near.filter(shutdown_at__gt=now, workload__status__in=LIVE - {Status.STOPPING})
    for environment in soon[:AT_ONCE]:
        _notify(environment)
    return sum(_stop(actor, environment) for environment in near.filter(shutdown_at__lte=now)[:AT_ONCE])


def _notify(environment: Environment) -> None:
    """Once for each moment."""
    if environment.shutdown_at is None:
        return
    at = environment.shutdown_at.isoformat()
    notify_user(
        organisation_id=environment.organisation_id,
        user_id=environment.owner_id,
        kind="environment.shutdown_soon",
        data={"environment_id": str(environment.pk), "name": environment.name, "at": at},
        dedup=f"environment.shutdown_soon:{environment.pk}:{at}",
    )


def _stop(actor: Actor, environment: Environment) -> bool:
    """One that does not run is left alone; its next moment comes all the same."""
    with transaction.atomic():
        row, now = locked(environment), db_now()
        if row.shutdown_at is None or row.shutdown_at > now:
            return False
        Environment.objects.filter(pk=row.pk).update(**_after(row, now))
        if row.workload is None or not row.workload.is_live:
            return False
        asked = saving.ask(actor, row.workload, Reason.TIMED, by=now + saving_time())
        if asked:
            log(actor, row, "shutdown", after=_logged(row))
        tell_pages(row)
        return asked


def _after(row: Environment, now: datetime) -> dict[str, Any]:
    """The columns once the moment has come."""
    if row.shutdown_time is None:
        return _columns(None, now)
    return {"shutdown_at": next_at(row.shutdown_time, zone_named(row.shutdown_zone), now)}
