"""Acts on several organisations."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.actor import Actor
from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.console.people.organisations.listing import OrganisationListFilter
from apps.console.people.organisations.selectors import organisations
from apps.tenants import services as tenants
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation


def _freeze(actor: Actor, row: Organisation) -> None:
    tenants.set_organisation_status(actor, organisation_id=row.pk, status=OrganisationStatus.FROZEN)


def _unfreeze(actor: Actor, row: Organisation) -> None:
    tenants.set_organisation_status(actor, organisation_id=row.pk, status=OrganisationStatus.ACTIVE)


def _organisation(row: Any) -> str:
    return str(row.name)


ORGANISATIONS = BulkList(
    route="console:organisations_bulk",
    back="console:organisations",
    acts=(
        BulkAct(
            name="freeze",
            label=_("Freeze"),
            icon="snowflake",
            permission=P.PLATFORM_TENANTS_MANAGE,
            title=ngettext_lazy("Freeze %(count)s organisation?", "Freeze %(count)s organisations?", "count"),
            done=ngettext_lazy("%(count)s organisation is frozen.", "%(count)s organisations are frozen.", "count"),
            do=_freeze,
            lost=_("Their people can start nothing new"),
            kept=_("Their files and money, and what runs now"),
            undo=_("Unfreeze them"),
            dangerous=True,
        ),
        BulkAct(
            name="unfreeze",
            label=_("Unfreeze"),
            icon="player-play",
            permission=P.PLATFORM_TENANTS_MANAGE,
            title=ngettext_lazy("Unfreeze %(count)s organisation?", "Unfreeze %(count)s organisations?", "count"),
            done=ngettext_lazy(
                "%(count)s organisation may work again.", "%(count)s organisations may work again.", "count"
            ),
            do=_unfreeze,
            undo=_("Freeze them again"),
        ),
    ),
    rows=lambda actor, asked: organisations(actor),
    filters=OrganisationListFilter,
    named=_organisation,
)
