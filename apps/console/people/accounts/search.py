"""People and staff, found by name, user name or e-mail."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.console.people.accounts import selectors
from apps.tenants.models import User

FIELDS = ("name", "username", "email")


def _staff(actor: Actor) -> "QuerySet[User]":
    return selectors.people(actor, staff=True)


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{row['username']} · {row['email']}" if row["email"] else row["username"]
    return row["name"] or row["username"], sub, reverse("console:people_detail", args=[row["pk"]])


PEOPLE = Source(
    name="people",
    label=_("People"),
    icon="users",
    console=Permission.PLATFORM_TENANTS_VIEW,
    find=Rows(rows=selectors.people, hit=_hit, fields=FIELDS, newest="date_joined", ids=()),
)
STAFF = Source(
    name="staff",
    label=_("Staff"),
    icon="shield-check",
    console=Permission.PLATFORM_SECURITY_VIEW,
    find=Rows(rows=_staff, hit=_hit, fields=FIELDS, newest="date_joined", ids=()),
)
