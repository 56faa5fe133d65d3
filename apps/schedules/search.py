"""Schedules, found by name."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.schedules import selectors
from apps.schedules.choices import ScheduleStatus


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{ScheduleStatus(row['status']).label} · {row['cron']}"
    return row["name"], sub, reverse("schedules:detail", args=[row["pk"]])


SCHEDULES = Source(
    name="schedules",
    label=_("Schedules"),
    icon="repeat",
    portal=Permission.TRAINING_VIEW,
    find=Rows(rows=selectors.schedules, hit=_hit, more=("status", "cron"), owner="owner_id"),
)
