"""Services, found by name or address."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.serving import selectors


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    owner = row["owner__name"] or row["owner__username"]
    return row["name"], f"{owner} · {row['host']}", reverse("serving:detail", args=[row["pk"]])


SERVICES = Source(
    name="services",
    label=_("Model services"),
    icon="rocket",
    portal=Permission.SERVICES_VIEW,
    find=Rows(
        rows=lambda actor: selectors.services(actor),
        hit=_hit,
        fields=("name", "host"),
        more=("owner__name", "owner__username"),
        owner="owner_id",
        ids=("pk",),
    ),
)
