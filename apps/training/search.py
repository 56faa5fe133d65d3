"""Training runs, found by name."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.training import selectors
from apps.workloads.choices import Status


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = (
        f"v{row['version']} · {Status(row['workload__status']).label} · {row['owner__name'] or row['owner__username']}"
    )
    return row["name"], sub, reverse("training:detail", args=[row["pk"]])


RUNS = Source(
    name="runs",
    label=_("Training runs"),
    icon="flask",
    portal=Permission.TRAINING_VIEW,
    find=Rows(
        rows=selectors.runs,
        hit=_hit,
        more=("version", "workload__status", "owner__name", "owner__username"),
        owner="owner_id",
        ids=("pk", "workload_id"),
    ),
)
