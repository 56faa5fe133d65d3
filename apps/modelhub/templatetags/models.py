"""`{% load models %}`: small things of the lists of models."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.common.actor import Actor
from apps.modelhub.choices import Format
from apps.modelhub.models import Model
from apps.storage.sharing import may_manage

register = template.Library()


@register.filter
def format_label(value: str) -> str:
    return str(Format(value).label) if value in Format.values else ""


@register.simple_tag
def model_menu(actor: Actor, model: Model) -> list[dict[str, Any]]:
    """What one can do with a row of the list; nothing where there is nothing beyond opening it."""
    if not may_manage(actor, model):
        return []
    ask = {name: reverse("models:model_act", args=[model.pk, name]) for name in ("delete", "restore", "purge")}
    if model.deleted_at is not None:
        return [
            {"label": _("Restore…"), "icon": "restore", "hx_get": ask["restore"]},
            {"label": _("Remove for good…"), "icon": "trash-x", "hx_get": ask["purge"], "danger": True},
        ]
    here = reverse("models:model", args=[model.pk])
    return [
        {"label": _("Open"), "icon": "arrow-right", "url": here},
        {"label": pgettext("verb", "Share"), "icon": "users", "url": f"{here}?tab=sharing"},
        {"label": _("Settings"), "icon": "settings", "url": f"{here}?tab=settings"},
        {"label": _("Delete…"), "icon": "trash", "hx_get": ask["delete"], "danger": True},
    ]
