"""Limits of one department or one person of an organisation, on the pages of staff."""

from typing import Any
from uuid import UUID

from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.console.kit.quota_neighbours import neighbour_words, neighbours
from apps.console.kit.quotas import LimitsForm, gpu_models, set_limits
from apps.tenants.models import Department, Membership
from apps.tenants.selectors import level_lines

Level = dict[str, Any]  # keyword arguments of `level_lines` and `set_limits`


def limits_form(organisation_id: UUID, level: Level, data: Any = None) -> LimitsForm:
    return LimitsForm(data, lines=level_lines(organisation_id, models=gpu_models(), **level))


def set_limits_of(actor: Actor, organisation_id: UUID, level: Level, form: LimitsForm) -> str:
    """What was done, in words; empty: refused, and the form says why."""
    if not form.is_valid():
        return ""
    try:
        changed = set_limits(actor, organisation_id=organisation_id, limits=form.limits(), **level)
    except DomainError as error:
        show_error(form, error)
        return ""
    return ngettext("%(count)s limit was set.", "%(count)s limits were set.", changed) % {"count": changed}


def department_rows(form: LimitsForm, department: Department) -> list[dict[str, Any]]:
    near = neighbours(department.organisation_id, above_from=department.parent_id, below_of=department.pk)
    return _rows(form, near)


def person_rows(form: LimitsForm, member: Membership) -> list[dict[str, Any]]:
    return _rows(form, neighbours(member.organisation_id, above_from=member.department_id, below_of=None, people=True))


def _rows(form: LimitsForm, near: Any) -> list[dict[str, Any]]:
    return [
        {
            "line": row.line,
            "field": row.field,
            "unit": row.unit,
            "used": row.used,
            **neighbour_words(near, (row.line.resource, row.line.model), row.line.limit),
        }
        for row in form.rows()
    ]
