"""`{% load storage %}`: small things of the file manager and the lists."""

import json
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.common.actor import Actor
from apps.storage import jobs
from apps.storage.models import Dataset, Job, Volume
from apps.storage.sharing import may_manage

register = template.Library()


@register.filter
def at_json(path: str) -> str:
    """The value of `hx-vals` that names a folder; the template escapes it."""
    return json.dumps({"at": path})


@register.simple_tag
def jobs_ahead(job: Job) -> int:
    """How many jobs of its organisation start before a job that waits."""
    return jobs.ahead_of(job)


@register.simple_tag
def volume_menu(actor: Actor, volume: Volume) -> list[dict[str, Any]]:
    """What one can do with a row of the list; nothing where there is nothing beyond opening it."""
    return _menu(actor, volume, "storage:volume")


@register.simple_tag
def dataset_menu(actor: Actor, dataset: Dataset) -> list[dict[str, Any]]:
    return _menu(actor, dataset, "storage:dataset")


def _menu(actor: Actor, thing: Volume | Dataset, page: str) -> list[dict[str, Any]]:
    if not may_manage(actor, thing):
        return []
    ask = {name: reverse(f"{page}_act", args=[thing.pk, name]) for name in ("delete", "restore", "purge")}
    if thing.deleted_at is not None:
        return [
            {"label": _("Restore…"), "icon": "restore", "hx_get": ask["restore"]},
            {"label": _("Remove for good…"), "icon": "trash-x", "hx_get": ask["purge"], "danger": True},
        ]
    here = reverse(page, args=[thing.pk])
    return [
        {"label": _("Open"), "icon": "arrow-right", "url": here},
        {"label": pgettext("verb", "Share"), "icon": "users", "url": f"{here}?tab=sharing"},
        {"label": _("Settings"), "icon": "settings", "url": f"{here}?tab=settings"},
        {"label": _("Delete…"), "icon": "trash", "hx_get": ask["delete"], "danger": True},
    ]
