"""Organisations and people as files."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.billing.formula import yuan_of
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.people.accounts.listing import PeopleFilter
from apps.console.people.accounts.selectors import people
from apps.console.people.organisations.listing import OrganisationListFilter
from apps.console.people.organisations.selectors import organisations
from apps.tenants.models import User


def _organisation(row: Any) -> list[Cell]:
    """Whoever may not see money has no balance to read."""
    balance = getattr(row, "balance_fen", None)
    return [
        row.name,
        row.slug,
        row.get_status_display(),
        row.members,
        row.live,
        None if balance is None else yuan_of(balance),
        row.created_at,
        str(row.pk),
    ]


def _person(row: User) -> list[Cell]:
    homes = ", ".join(each.organisation.name for each in row.memberships.all())
    return [
        row.username,
        row.name,
        row.email,
        homes,
        str(_("usable") if row.is_active else _("Disabled")),
        row.last_login,
        row.date_joined,
    ]


ORGANISATIONS = ExportedList(
    name="organisations",
    label=_("Organisations"),
    permission=P.PLATFORM_TENANTS_VIEW,
    platform=True,
    rows=lambda actor, asked: organisations(actor),
    filters=OrganisationListFilter,
    order=("name", "pk"),
    columns=(
        Column(_("Organisation"), width=28),
        Column(_("Short name"), width=18),
        Column(_("State")),
        Column(_("Members"), CellFormat.WHOLE, 10),
        Column(_("Running and waiting"), CellFormat.WHOLE, 12),
        Column(_("Balance ¥"), CellFormat.YUAN),
        Column(_("Created"), CellFormat.MOMENT, 20),
        Column(_("Id"), width=38),
    ),
    cells=_organisation,
)
PEOPLE = ExportedList(
    name="people",
    label=_("People"),
    permission=P.PLATFORM_TENANTS_VIEW,
    platform=True,
    rows=lambda actor, asked: people(actor),
    filters=PeopleFilter,
    order=("username", "pk"),
    columns=(
        Column(_("User name"), width=20),
        Column(pgettext_lazy("person", "Name"), width=20),
        Column(_("E-mail"), width=28),
        Column(_("Organisations"), width=36),
        Column(_("Account")),
        Column(_("Last sign-in"), CellFormat.MOMENT, 20),
        Column(_("Created"), CellFormat.MOMENT, 20),
    ),
    cells=_person,
)
