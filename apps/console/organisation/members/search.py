"""Members of one's organisation, found by name, user name or e-mail."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.tenants.models import Membership


def _rows(actor: Actor) -> QuerySet[Membership]:
    actor.require(Permission.MEMBERS_MANAGE)
    rows: QuerySet[Membership] = Membership.objects.filter(organisation_id=actor.organisation())
    return rows


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    username, email = row["user__username"], row["user__email"]
    sub = f"{username} · {email}" if email else username
    return row["user__name"] or username, sub, reverse("organisation:member", args=[row["user_id"]])


MEMBERS = Source(
    name="members",
    label=_("Members"),
    icon="users",
    portal=Permission.MEMBERS_MANAGE,
    find=Rows(
        rows=_rows,
        hit=_hit,
        fields=("user__name", "user__username", "user__email"),
        more=("user_id",),
        ids=(),
    ),
)
