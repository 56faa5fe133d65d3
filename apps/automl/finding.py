"""Experiments, found by name."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.automl import selectors
from apps.automl.choices import ExperimentStatus
from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{ExperimentStatus(row['status']).label} · {row['owner__name'] or row['owner__username']}"
    return row["name"], sub, reverse("tuning:detail", args=[row["pk"]])


EXPERIMENTS = Source(
    name="experiments",
    label=_("Tuning experiments"),
    icon="adjustments-horizontal",
    portal=Permission.TRAINING_VIEW,
    find=Rows(
        rows=selectors.experiments,
        hit=_hit,
        more=("status", "owner__name", "owner__username"),
        owner="owner_id",
        ids=("pk",),
    ),
)
