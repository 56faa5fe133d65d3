"""Environments, found by name or SSH name."""

from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.envs import selectors
from apps.envs.models import Environment


def _rows(actor: Actor) -> QuerySet[Environment]:
    return selectors.environments(actor).filter(deleted_at__isnull=True)


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    owner = row["owner__name"] or row["owner__username"]
    if not actor.platform:
        return row["name"], f"{owner} · {row['code']}", reverse("envs:detail", args=[row["pk"]])
    return row["name"], f"{row['organisation__name']} · {owner} · {row['code']}", _console_page(row)


def _console_page(row: Row) -> str:
    """The newest start's page; the list, for one that was never started."""
    if row["workload_id"]:
        return reverse("console:workload", args=[row["workload_id"]])
    return f"{reverse('console:environments')}?{urlencode({'q': row['code']})}"


ENVIRONMENTS = Source(
    name="environments",
    label=_("Environments"),
    icon="terminal-2",
    portal=Permission.ENVIRONMENTS_VIEW,
    console=Permission.PLATFORM_WORKLOADS_VIEW,
    find=Rows(
        rows=_rows,
        hit=_hit,
        fields=("name", "code"),
        more=("organisation__name", "owner__name", "owner__username", "workload_id"),
        owner="owner_id",
        ids=("pk", "workload_id"),
    ),
)
