"""Roles of the platform that its administrators have defined, found by name."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.tenants.models import DefinedPlatformRole


def _rows(actor: Actor) -> QuerySet[DefinedPlatformRole]:
    actor.require(Permission.PLATFORM_SECURITY_VIEW)
    return DefinedPlatformRole.objects.all()


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], "", reverse("console:role", args=[row["pk"]])


ROLES = Source(
    name="platform_roles",
    label=_("Roles"),
    icon="shield-check",
    console=Permission.PLATFORM_SECURITY_VIEW,
    find=Rows(rows=_rows, hit=_hit),
)
