"""Own roles of one's organisation, found by name."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.tenants.models import OrganisationRole


def _rows(actor: Actor) -> QuerySet[OrganisationRole]:
    actor.require(Permission.ORGANISATION_MANAGE)
    rows: QuerySet[OrganisationRole] = OrganisationRole.objects.filter(organisation_id=actor.organisation())
    return rows


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], "", reverse("organisation:role", args=[row["pk"]])


ROLES = Source(
    name="roles",
    label=_("Roles"),
    icon="shield-check",
    portal=Permission.ORGANISATION_MANAGE,
    find=Rows(rows=_rows, hit=_hit),
)
