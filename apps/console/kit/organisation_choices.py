"""Departments and roles to choose from, and reading which was chosen."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.tenants import tree
from apps.tenants.models import Department, OrganisationRole

# A select of more than these is no help: beyond, the department is chosen from its own page.
DEPARTMENTS_SHOWN = 200


def department_choices(
    organisation_id: UUID, none: Any, *, besides: Iterable[UUID] = (), chosen: str = ""
) -> list[tuple[str, Any]]:
    """Departments by their paths; `besides` are left out, `chosen` is there however many others there are."""
    rows = Department.objects.filter(organisation_id=organisation_id)
    ids = list(rows.order_by("name").values_list("pk", flat=True)[:DEPARTMENTS_SHOWN])
    if chosen:
        ids += rows.filter(pk=chosen).values_list("pk", flat=True)
    found = tree.paths(ids)
    left_out = set(besides)
    named = sorted(((str(pk), path) for pk, path in found.items() if pk not in left_out), key=lambda pair: pair[1])
    return [("", none), *named]


def role_choices(organisation_id: UUID) -> list[tuple[str, Any]]:
    own = OrganisationRole.objects.filter(organisation_id=organisation_id).order_by("name")
    return [("", _("What the base role allows")), *((str(role.pk), role.name) for role in own)]


def uuid_of(text: str) -> UUID | None:
    """The id of what was chosen; None for the choice of nothing."""
    return UUID(text) if text else None
