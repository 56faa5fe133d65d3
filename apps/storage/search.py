"""Volumes and datasets, found by name; volumes also by their code."""

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.storage import datasets, volumes

OWNERS = ("owner__name", "owner__username", "organisation__name")


def _sub(actor: Actor, row: Row) -> str:
    owner = row["owner__name"] or row["owner__username"]
    return f"{row['organisation__name']} · {owner}" if actor.platform else owner


def _page(actor: Actor, row: Row, one: str) -> str:
    """Its page; in the console, where it has none, the list narrowed to its name."""
    if actor.platform:
        return f"{reverse(f'console:{one}s')}?{urlencode({'q': row['name']})}"
    return reverse(f"storage:{one}", args=[row["pk"]])


def _volume(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], f"{_sub(actor, row)} · {row['code']}", _page(actor, row, "volume")


def _dataset(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], _sub(actor, row), _page(actor, row, "dataset")


VOLUMES = Source(
    name="volumes",
    label=_("Volumes"),
    icon="database",
    portal=Permission.STORAGE_VIEW,
    console=Permission.PLATFORM_STORAGE_VIEW,
    find=Rows(rows=volumes.visible, hit=_volume, fields=("name", "code"), more=OWNERS, owner="owner_id"),
)
DATASETS = Source(
    name="datasets",
    label=_("Datasets"),
    icon="stack-2",
    portal=Permission.STORAGE_VIEW,
    console=Permission.PLATFORM_STORAGE_VIEW,
    find=Rows(rows=datasets.visible, hit=_dataset, more=OWNERS, owner="owner_id"),
)
