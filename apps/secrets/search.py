"""Secrets, found by name; a value is never read."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.secrets import selectors
from apps.secrets.choices import Scope


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    scope = Scope.PERSONAL if row["owner_id"] else Scope.ORGANISATION
    return row["name"], str(scope.label), reverse("secrets:detail", args=[row["pk"]])


SECRETS = Source(
    name="secrets",
    label=_("Secrets"),
    icon="key",
    portal=Permission.SECRETS_USE,
    find=Rows(rows=selectors.visible, hit=_hit, owner="owner_id"),
)
