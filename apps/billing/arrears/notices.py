"""Whom an arrears transition concerns: the organisation, the owners of its running work, the platform's staff."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from apps.billing.choices import ArrearsStatus, Resource
from apps.billing.metering.covering import covered_workloads
from apps.billing.models import ArrearsState, MeterSession
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation, notify_platform, notify_user, people_of

S = ArrearsStatus

# What the kernel does to the work itself is told by the kernel, for each piece of work that it stops.
TO_OWNERS: Mapping[ArrearsStatus, str] = {S.LOW: "billing.work_low", S.GRACE: "billing.work_grace"}
TO_STAFF: Mapping[ArrearsStatus, str] = {
    S.GRACE: "billing.organisation_grace",
    S.SUSPENDED: "billing.organisation_suspended",
}
NAMED = 5
FOREVER_HOURS = Decimal(24 * 3660)


def notify(state: ArrearsState, to: ArrearsStatus, *, kind: str, data: Mapping[str, Any], dedup: str) -> None:
    """Notify all whom the move to `to` concerns, in its transaction; `kind` is what the organisation itself gets."""
    notify_organisation(organisation_id=state.pk, kind=kind, data=data, dedup=dedup)
    if to in TO_OWNERS:
        _tell_owners(state.pk, TO_OWNERS[to], data, dedup)
    if to in TO_STAFF:
        # Finance and business both see organisations; whoever looks after machines does not.
        notify_platform(
            permission=Permission.PLATFORM_TENANTS_VIEW,
            kind=TO_STAFF[to],
            data={**data, "organisation": state.organisation.name, "organisation_id": str(state.pk)},
            dedup=f"{dedup}:staff",
        )


def _tell_owners(organisation_id: UUID, kind: str, data: Mapping[str, Any], dedup: str) -> None:
    """Each owner once, with the names of what runs; not those who are told for the organisation."""
    running: dict[int, list[str]] = defaultdict(list)
    rows = MeterSession.objects.filter(
        organisation_id=organisation_id, resource=Resource.COMPUTE, closed_at__isnull=True, settled=False
    ).exclude(workload_id__in=covered_workloads([organisation_id]))
    for user_id, label in rows.order_by("opened_at", "label", "pk").values_list("user_id", "label"):
        running[user_id].append(label)
    until = _runs_until(data)
    for user_id in running.keys() - set(people_of(organisation_id)):
        names = running[user_id]
        told = {**data, **until, "names": names[:NAMED], "count": len(names)}
        notify_user(organisation_id=organisation_id, user_id=user_id, kind=kind, data=told, dedup=f"{dedup}:owner")


def _runs_until(data: Mapping[str, Any]) -> dict[str, str]:
    """When the funds are used up at the present burn; empty where nothing burns."""
    burn = Decimal(data["burn_fen_per_hour"])
    hours = max(data["funds_fen"], 0) / burn if burn > 0 else FOREVER_HOURS
    if hours >= FOREVER_HOURS:
        return {}
    return {"runs_until": (db_now() + timedelta(seconds=int(hours * 3600))).isoformat()}
