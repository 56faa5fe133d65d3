"""Organisations, found by name, short name or id."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.console.people.organisations import selectors


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], row["slug"], reverse("console:organisation", args=[row["pk"]])


ORGANISATIONS = Source(
    name="organisations",
    label=_("Organisations"),
    icon="building",
    console=Permission.PLATFORM_TENANTS_VIEW,
    find=Rows(rows=selectors.organisations, hit=_hit, fields=("name", "slug")),
)
