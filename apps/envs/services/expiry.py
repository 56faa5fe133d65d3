"""The expiry of environments: renewed by the owner, notified a day and an hour before, stopped at the end."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.envs import states
from apps.envs.choices import Step
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.policy import EnvironmentSettings
from apps.envs.services.create import check_duration
from apps.envs.services.shared import locked, log, refuse_binned, tell_pages
from apps.notifications.services import notify_user
from apps.tenants import settings
from apps.workloads.choices import LIVE, Status
from apps.workloads.ended import spent_data

TOLD_BEFORE = (timedelta(hours=24), timedelta(hours=1))
AT_ONCE = 200


def renew(actor: Actor, environment: Environment, *, days: int | None) -> datetime | None:
    """Add `days` to the end (or to now if it has passed); None: no end. Returns the new end."""
    require_own(actor, environment)
    chosen = check_duration(days, settings.get(EnvironmentSettings))
    with transaction.atomic():
        row = locked(environment)
        refuse_binned(row)
        now = db_now()
        base = max(now, row.expires_at) if row.expires_at is not None else now
        end = None if chosen is None else base + timedelta(days=chosen)
        Environment.objects.filter(pk=row.pk).update(expires_at=end)
        log(actor, row, "renewed", before={"until": _text(row.expires_at)}, after={"until": _text(end)})
        tell_pages(row)
    return end


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def sweep(actor: Actor) -> int:
    """Notify of environments that end soon, stop those that have ended; returns how many were stopped."""
    now = db_now()
    ending = Environment.objects.filter(expires_at__lte=now + max(TOLD_BEFORE), deleted_at__isnull=True)
    running = ending.filter(workload__status__in=LIVE - {Status.STOPPING}, expires_at__lte=now)
    for environment in ending.filter(expires_at__gt=now)[:AT_ONCE]:
        _notify(environment, now)
    return sum(_stop(actor, environment) for environment in running.select_related("workload")[:AT_ONCE])


def _notify(environment: Environment, now: datetime) -> None:
    """Once for each step before each end: the notice's key says which."""
    end = environment.expires_at
    passed = [before for before in TOLD_BEFORE if end is not None and end - now <= before]
    if not passed or end is None:
        return
    hours = int(min(passed).total_seconds() // 3600)
    notify_user(
        organisation_id=environment.organisation_id,
        user_id=environment.owner_id,
        kind="environment.expiring",
        data={"environment_id": str(environment.pk), "name": environment.name, "at": end.isoformat()},
        dedup=f"environment.expiring:{environment.pk}:{end.isoformat()}:{hours}",
    )


def _stop(actor: Actor, environment: Environment) -> bool:
    """Save and stop it; if an operation is running, the next sweep tries again."""
    with transaction.atomic():
        row = locked(environment)
        if row.expires_at is None or row.expires_at > db_now():
            return False
        try:
            states.begin(row, Step.STOP, by_id=None, note="expired")
        except Conflict:
            return False
        log(actor, row, "expired")
        spent = spent_data(actor, row.workload) if row.workload is not None else {}
        notify_user(
            organisation_id=row.organisation_id,
            user_id=row.owner_id,
            kind="environment.expired",
            data={"environment_id": str(row.pk), "name": row.name, **spent},
            dedup=f"environment.expired:{row.pk}:{_text(row.expires_at)}",
        )
        tell_pages(row)
    return True
