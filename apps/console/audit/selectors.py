"""The operation log with the names that its ids stand for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.audit import selectors as log
from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.tenants.models import Organisation


@dataclass(frozen=True, slots=True)
class Change:
    """One field of an entry: what it was and what it became (None where there was nothing)."""

    name: str
    before: Any
    after: Any


def entries(actor: Actor) -> QuerySet[Entry]:
    return log.entries(actor)


def changes(entry: Entry) -> list[Change]:
    """Fields that differ, in the order of the entry, those that are new last."""
    names = [*entry.before, *(name for name in entry.after if name not in entry.before)]
    found = [Change(name, entry.before.get(name), entry.after.get(name)) for name in names]
    return [change for change in found if (change.before or None) != (change.after or None)]


def organisation_names(found: Iterable[Entry]) -> dict[UUID, str]:
    """Names of the organisations that some entries speak of, in one query."""
    ids = {entry.organisation_id for entry in found if entry.organisation_id}
    return dict(Organisation.objects.filter(pk__in=ids).order_by().values_list("pk", "name"))
