"""What a version of a model is used by: named before it is deleted, and on its page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.modelhub.models import ModelVersion
from apps.storage.mounted import live_mounts
from apps.workloads.kinds import kind_of


@dataclass(frozen=True, slots=True)
class Use:
    """In words, by name, with a page. `holds`: the version is not deleted meanwhile; `own`: it goes with its model."""

    kind: str
    name: str
    url: str = ""
    icon: str = "link"
    sub: str = ""
    holds: bool = True
    own: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


FindUses: TypeAlias = Callable[[ModelVersion], list[Use]]


def uses_of(version: ModelVersion) -> list[Use]:
    """Live work that mounts it, what other apps know (`settings.MODEL_USES`), and models that began with it."""
    finders: list[FindUses] = [_mounting, _aliases, *map(import_string, settings.MODEL_USES), _children]
    return [use for find in finders for use in find(version)]


def _mounting(version: ModelVersion) -> list[Use]:
    found = []
    for workload in live_mounts(version.relative_path)[:20]:
        kind = kind_of(workload)
        url = reverse(kind.page, args=[workload.pk])
        found.append(Use(str(kind.label), workload.name, url, "player-play", workload.owner.display_name))
    return found


def _aliases(version: ModelVersion) -> list[Use]:
    """Names that work asks for: they are moved or removed before."""
    return [Use(_("Alias"), alias.name, "", "tag", own=True) for alias in version.aliases.all()]


def _children(version: ModelVersion) -> list[Use]:
    """Their origin would be forgotten; they themselves stay whole."""
    rows = ModelVersion.objects.filter(parent=version, model__deleted_at__isnull=True)
    return [
        Use(
            pgettext("learned", "Model"),
            f"{child.model.name} v{child.number}",
            reverse("models:version", args=[child.pk]),
            "box",
            _("began with this version"),
            holds=False,
        )
        for child in rows.exclude(model_id=version.model_id).select_related("model")[:20]
    ]
