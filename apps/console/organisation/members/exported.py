"""Members of one's organisation as a file."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.organisation.members.listing import MemberFilter
from apps.tenants.models import Membership


def _rows(actor: Actor, asked: QueryDict) -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.filter(organisation_id=actor.organisation())
    return rows.select_related("user", "own_role", "department")


def _member(row: Any) -> list[Cell]:
    return [
        row.user.username,
        row.user.name,
        row.user.email,
        row.own_role.name if row.own_role else row.get_role_display(),
        row.department.name if row.department else "",
        row.priority,
        str(_("usable") if row.user.is_active else _("Disabled")),
        row.created_at,
    ]


MEMBERS = ExportedList(
    name="members",
    label=_("Members"),
    permission=P.MEMBERS_MANAGE,
    platform=False,
    rows=_rows,
    filters=MemberFilter,
    order=("user__username", "pk"),
    columns=(
        Column(_("User name"), width=20),
        Column(pgettext_lazy("person", "Name"), width=20),
        Column(_("E-mail"), width=28),
        Column(_("Role"), width=18),
        Column(_("Department"), width=24),
        Column(_("Priority"), CellFormat.WHOLE, 8),
        Column(_("Account")),
        Column(_("Member since"), CellFormat.MOMENT, 20),
    ),
    cells=_member,
)
