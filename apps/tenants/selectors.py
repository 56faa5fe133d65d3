"""Reading people and their limits."""

from dataclasses import dataclass

from django.db.models import Q

from apps.common.actor import Actor
from apps.tenants.choices import PlatformRole, Resource
from apps.tenants.models import PlatformAssignment, Quota


@dataclass(frozen=True, slots=True)
class Limit:
    """Use and limit of one resource at the level `whose`; `limit` is None where nothing limits it."""

    resource: Resource
    used: int
    limit: int | None
    whose: str


def own_limits(actor: Actor) -> list[Limit]:
    """For each resource the level that leaves least: one's own, the department's or the organisation's."""
    if actor.organisation_id is None:
        return []
    mine = Q(user_id=actor.user_id) | Q(user__isnull=True, department__isnull=True)
    if actor.department_id is not None:
        mine |= Q(department_id=actor.department_id)
    rows = list(Quota.objects.filter(mine, organisation_id=actor.organisation_id))
    return [_tightest(resource, [row for row in rows if row.resource == resource], actor) for resource in Resource]


def _tightest(resource: Resource, rows: list[Quota], actor: Actor) -> Limit:
    limited = [row for row in rows if row.limit is not None]
    if not limited:
        used = next((row.used for row in rows if row.user_id == actor.user_id), 0)
        return Limit(resource, used, None, "")
    row = min(limited, key=lambda quota: (quota.limit or 0) - quota.used)
    return Limit(resource, row.used, row.limit, _level(row))


def _level(row: Quota) -> str:
    if row.user_id:
        return "user"
    return "department" if row.department_id else "organisation"


def platform_roles(user_id: int) -> list[PlatformRole]:
    """Roles that a person has among the platform's staff."""
    rows = PlatformAssignment.objects.filter(user_id=user_id).order_by("role")
    return [PlatformRole(role) for role in rows.values_list("role", flat=True)]
