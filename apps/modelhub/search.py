"""Models, found by name."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.modelhub import selectors


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    return row["name"], row["owner__name"] or row["owner__username"], reverse("models:model", args=[row["pk"]])


MODELS = Source(
    name="models",
    label=_("Models"),
    icon="box",
    portal=Permission.MODELS_VIEW,
    find=Rows(rows=selectors.models_for, hit=_hit, more=("owner__name", "owner__username"), owner="owner_id"),
)
