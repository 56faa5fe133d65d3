"""Departments of one's organisation, found by name."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.tenants.models import Department


def _rows(actor: Actor) -> QuerySet[Department]:
    actor.require(Permission.MEMBERS_MANAGE)
    rows: QuerySet[Department] = Department.objects.filter(organisation_id=actor.organisation())
    return rows


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], row["parent__name"] or "", reverse("organisation:department", args=[row["pk"]])


DEPARTMENTS = Source(
    name="departments",
    label=_("Departments"),
    icon="sitemap",
    portal=Permission.MEMBERS_MANAGE,
    find=Rows(rows=_rows, hit=_hit, more=("parent__name",)),
)
