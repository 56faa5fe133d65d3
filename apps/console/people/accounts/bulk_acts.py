"""Acts on several people's accounts."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.actor import Actor
from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.console.people.accounts.listing import PeopleFilter
from apps.console.people.accounts.selectors import people
from apps.tenants.models import User
from apps.tenants.services import accounts


def _disable(actor: Actor, row: User) -> None:
    accounts.set_active(actor, user_id=row.pk, active=False)


def _enable(actor: Actor, row: User) -> None:
    accounts.set_active(actor, user_id=row.pk, active=True)


def _person(row: Any) -> str:
    return f"{row.display_name} ({row.username})"


PEOPLE = BulkList(
    route="console:people_bulk",
    back="console:people",
    acts=(
        BulkAct(
            name="disable",
            label=_("Disable"),
            icon="user-off",
            permission=P.PLATFORM_TENANTS_MANAGE,
            title=ngettext_lazy("Disable %(count)s account?", "Disable %(count)s accounts?", "count"),
            done=ngettext_lazy("%(count)s account is disabled.", "%(count)s accounts are disabled.", "count"),
            do=_disable,
            lost=_("They are signed out everywhere; what waits does not start"),
            kept=_("Their files, and what runs now"),
            undo=_("Enable them again"),
            dangerous=True,
        ),
        BulkAct(
            name="enable",
            label=_("Enable"),
            icon="user-check",
            permission=P.PLATFORM_TENANTS_MANAGE,
            title=ngettext_lazy("Enable %(count)s account?", "Enable %(count)s accounts?", "count"),
            done=ngettext_lazy("%(count)s account can be used.", "%(count)s accounts can be used.", "count"),
            do=_enable,
            undo=_("Disable them again"),
        ),
    ),
    rows=lambda actor, asked: people(actor),
    filters=PeopleFilter,
    named=_person,
)
