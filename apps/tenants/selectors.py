"""Reading people and their limits."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants import tree
from apps.tenants.choices import PlatformRole, Resource
from apps.tenants.models import PlatformAssignment, Quota
from apps.tenants.quotas.amounts import Line
from apps.tenants.roles import PLATFORM_ROLES


@dataclass(frozen=True, slots=True)
class Limit:
    """Use and limit of one resource (of one accelerator `model`) at the level `whose`; `limit` None: unlimited."""

    resource: Resource
    used: int
    limit: int | None
    whose: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class LevelLine:
    """What one level holds of a resource (of one accelerator `model`), and its limit (None: unlimited)."""

    resource: Resource
    model: str
    used: int
    limit: int | None


def own_limits(actor: Actor) -> list[Limit]:
    """For each resource the tightest level: one's own, that of a department above one, or the organisation's.

    Limited accelerator models follow.
    """
    if actor.organisation_id is None:
        return []
    mine = Q(user_id=actor.user_id) | Q(user__isnull=True, department__isnull=True)
    mine |= Q(department_id__in=tree.ancestors(actor.department_id))
    found: dict[Line, list[Quota]] = {(resource, ""): [] for resource in Resource.every()}
    for row in Quota.objects.filter(mine, organisation_id=actor.organisation_id).order_by("model"):
        if not row.model or row.limit is not None:
            found.setdefault((Resource(row.resource), row.model), []).append(row)
    return [_tightest(line, rows, actor) for line, rows in found.items()]


def _tightest(line: Line, rows: list[Quota], actor: Actor) -> Limit:
    resource, model = line
    limited = [row for row in rows if row.limit is not None]
    if not limited:
        used = next((row.used for row in rows if row.user_id == actor.user_id), 0)
        return Limit(resource, used, None, "", model)
    row = min(limited, key=lambda quota: (quota.limit or 0) - quota.used)
    return Limit(resource, row.used, row.limit, _level(row), model)


def _level(row: Quota) -> str:
    if row.user_id:
        return "user"
    return "department" if row.department_id else "organisation"


def platform_roles(user_id: int) -> list[str]:
    """Names of the roles that a person has among the platform's staff, defined ones too."""
    rows = PlatformAssignment.objects.filter(user_id=user_id).select_related("defined").order_by("role", "pk")
    return [row.defined.name if row.defined else str(PlatformRole(row.role).label) for row in rows]


def staff_with(permission: Permission, *, but: int | None = None) -> list[int]:
    """Ids of the platform's active staff who hold a permission, by whatever role; `but` one of them."""
    roles = [role for role, granted in PLATFORM_ROLES.items() if permission in granted]
    holders = PlatformAssignment.objects.filter(
        Q(role__in=roles) | Q(defined__permissions__contains=[permission.value]), user__is_active=True
    )
    if but is not None:
        holders = holders.exclude(user_id=but)
    return list(holders.order_by().values_list("user_id", flat=True).distinct())


def level_lines(
    organisation_id: UUID,
    *,
    department_id: UUID | None = None,
    user_id: int | None = None,
    models: Iterable[str] = (),
) -> list[LevelLine]:
    """Use and limits of one level: every resource, then accelerator models (those in `models` and those with a row)."""
    level: dict[str, Any] = {"department_id": department_id, "user_id": user_id}
    rows = Quota.objects.filter(organisation_id=organisation_id, **level)
    found = {(Resource(row.resource), row.model): row for row in rows}
    models = sorted({*models, *(model for _resource, model in found)} - {""})
    lines = [(resource, "") for resource in Resource.every()]
    at = lines.index((Resource.GPU_MILLI, "")) + 1
    lines[at:at] = [(Resource.GPU_MILLI, model) for model in models]
    return [
        LevelLine(*line, found[line].used, found[line].limit) if line in found else LevelLine(*line, 0, None)
        for line in lines
    ]
