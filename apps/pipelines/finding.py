"""Pipelines, found by name."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.pipelines import selectors
from apps.pipelines.choices import RunStatus


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    last = RunStatus(row["last_status"]).label if row["last_status"] else _("never started")
    sub = f"{last} · {row['owner__name'] or row['owner__username']}"
    return row["name"], sub, reverse("pipelines:detail", args=[row["pk"]])


PIPELINES = Source(
    name="pipelines",
    label=_("Pipelines"),
    icon="route",
    portal=Permission.TRAINING_VIEW,
    find=Rows(
        rows=selectors.pipelines,
        hit=_hit,
        more=("last_status", "owner__name", "owner__username"),
        owner="owner_id",
        ids=("pk",),
    ),
)
