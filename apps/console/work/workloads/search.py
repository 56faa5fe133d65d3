"""Workloads of all organisations, found by name or id."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.workloads import selectors
from apps.workloads.choices import Status


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    owner = row["owner__name"] or row["owner__username"]
    sub = f"{row['organisation__name']} · {owner} · {Status(row['status']).label}"
    return row["name"], sub, reverse("console:workload", args=[row["pk"]])


WORKLOADS = Source(
    name="workloads",
    label=_("Workloads"),
    icon="flask",
    console=Permission.PLATFORM_WORKLOADS_VIEW,
    find=Rows(rows=selectors.bare, hit=_hit, more=("status", "organisation__name", "owner__name", "owner__username")),
)
