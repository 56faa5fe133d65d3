"""A refusal in words: whose limit, by how much, who can change it."""

from collections.abc import Mapping
from uuid import UUID

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.common.errors import QuotaExceeded
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from apps.tenants.quotas.amounts import Line, amount_text, line_words

QuotaRefusal = QuotaExceeded


def refusal_of(rows: list[Quota], lines: Mapping[Line, int], department_id: UUID | None) -> QuotaRefusal | None:
    """The first row that `lines` do not fit into; `department_id` is the person's own department."""
    for row in rows:
        wanted = lines[Resource(row.resource), row.model]
        if row.limit is not None and wanted > 0 and row.used + wanted > row.limit:
            short = row.used + wanted - row.limit
            return QuotaExceeded(_words(row, row.limit, short, department_id), hint=_who_can_change(row))
    return None


def _words(row: Quota, limit: int, short: int, department_id: UUID | None) -> Promise | str:
    resource = Resource(row.resource)
    return format_lazy(
        _("{whose} quota for {what} is short by {short}: limit {limit}, in use {used}."),
        whose=_whose(row, department_id),
        what=line_words(resource, row.model),
        short=amount_text(resource, short),
        limit=amount_text(resource, limit),
        used=amount_text(resource, row.used),
    )


def _whose(row: Quota, department_id: UUID | None) -> Promise | str:
    if row.user_id:
        return _("Your")
    if row.department is None:
        return _("Your organisation's")
    if row.department_id == department_id:
        return _("Your department's")
    return format_lazy(_("The department {name}'s"), name=row.department.name)


def _who_can_change(row: Quota) -> Promise | str:
    if row.user_id or row.department_id:
        return _("An administrator of your organisation can raise it; ending other runs frees it.")
    return _("The platform's administrators can raise it; ending other runs frees it.")
