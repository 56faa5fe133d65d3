"""Searches on tables, found by name, table or column."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.tabular import selectors
from apps.workloads.choices import Status


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{Status(row['status']).label} · {row['dataset_name']} · {row['target']}"
    return row["name"], sub, reverse("tabular:detail", args=[row["pk"]])


SEARCHES = Source(
    name="table_searches",
    label=_("Searches on tables"),
    icon="table",
    portal=Permission.TRAINING_VIEW,
    find=Rows(
        rows=selectors.searches,
        hit=_hit,
        fields=("name", "dataset_name", "target"),
        more=("status",),
        owner="owner_id",
        ids=("pk",),
    ),
)
