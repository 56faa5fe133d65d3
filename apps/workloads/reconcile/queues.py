"""From organisations, departments and people to the scheduler's queues: weights, guarantees, recent use, limits."""

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from django.db.models import F

import scheduler
from apps.tenants.choices import OrganisationStatus, Resource
from apps.tenants.models import Department, Guarantee, Membership, Organisation, Quota
from apps.workloads.queueing.usage import recent_use

LIMITED = (Resource.CPU_MILLI, Resource.MEMORY_MIB, Resource.GPU_MILLI)
Level = tuple[UUID, UUID | None, int | None]  # organisation, department, person


def queues(now: datetime, *, simulated: bool) -> tuple[scheduler.Queue, ...]:
    """Everything that the order of turns depends on, apart from the tasks themselves. A fixed number of queries.

    Quota was reserved when the work was submitted, waiting or not, so counting against limits again would say nothing.
    Only where a limit was lowered below what is reserved does the scheduler hear of it, and starts no more than that.
    """
    limits = _exceeded()
    return (*_organisations(now, simulated, limits), *_departments(limits), *_people(limits))


def _organisations(now: datetime, simulated: bool, limits: dict[Level, scheduler.Amount]) -> list[scheduler.Queue]:
    guaranteed, used = _guarantees(simulated), recent_use(now, simulated=simulated)
    rows = Organisation.objects.with_scopes_disabled().order_by("pk").values_list("pk", "weight")
    return [
        scheduler.Queue(
            scheduler.QueueLevel.ORGANISATION,
            str(pk),
            str(pk),
            weight=weight,
            guarantee=guaranteed.get(pk, scheduler.Amount()),
            limit=limits.get((pk, None, None), scheduler.Amount()),
            decayed_usage=used.get(pk, {}),
        )
        for pk, weight in rows
    ]


def _guarantees(simulated: bool) -> dict[UUID, scheduler.Amount]:
    """A frozen organisation cannot use what it was promised, so nobody has to give way for it."""
    found: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    rows = Guarantee.objects.filter(simulated=simulated, organisation__status=OrganisationStatus.ACTIVE)
    for row in rows.order_by("pk"):
        found[row.organisation_id][row.gpu_model or scheduler.ANY_MODEL] = row.gpu_milli
    return {organisation: scheduler.Amount(gpu_milli=milli) for organisation, milli in found.items()}


def _departments(limits: dict[Level, scheduler.Amount]) -> list[scheduler.Queue]:
    rows = Department.objects.order_by("pk").values_list("pk", "organisation_id", "parent_id", "weight")
    return [
        scheduler.Queue(
            scheduler.QueueLevel.DEPARTMENT,
            str(pk),
            str(organisation),
            parent=str(parent or ""),
            weight=weight,
            limit=limits.get((organisation, pk, None), scheduler.Amount()),
        )
        for pk, organisation, parent, weight in rows
    ]


def _people(limits: dict[Level, scheduler.Amount]) -> list[scheduler.Queue]:
    """Those who differ from everybody else."""
    weights: dict[Level, int] = {
        (organisation, None, user): weight
        for organisation, user, weight in Membership.objects.exclude(weight=1).values_list(
            "organisation_id", "user_id", "weight"
        )
    }
    levels = {level for level in (*weights, *limits) if level[2] is not None}
    return [
        scheduler.Queue(
            scheduler.QueueLevel.USER,
            str(user),
            str(organisation),
            weight=weights.get((organisation, None, user), 1),
            limit=limits.get((organisation, None, user), scheduler.Amount()),
        )
        for organisation, _department, user in sorted(levels, key=str)
    ]


def _exceeded() -> dict[Level, scheduler.Amount]:
    """Limits that are below what is reserved, by level."""
    found: defaultdict[Level, dict[tuple[str, str], int]] = defaultdict(dict)
    rows = Quota.objects.filter(resource__in=LIMITED, limit__isnull=False, used__gt=F("limit"))
    for row in rows.order_by("pk"):
        if row.limit is not None:
            found[row.organisation_id, row.department_id, row.user_id][row.resource, row.model] = row.limit
    return {level: _amount(lines) for level, lines in found.items()}


def _amount(lines: dict[tuple[str, str], int]) -> scheduler.Amount:
    return scheduler.Amount(
        cpu_milli=lines.get((Resource.CPU_MILLI, "")),
        memory_mib=lines.get((Resource.MEMORY_MIB, "")),
        gpu_milli={
            model or scheduler.ANY_MODEL: limit
            for (resource, model), limit in lines.items()
            if resource == Resource.GPU_MILLI
        },
    )
