"""The operation log with the names that its ids stand for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import get_language

from apps.audit import selectors as log
from apps.audit.models import Entry
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.tenants.models import Organisation


@dataclass(frozen=True, slots=True)
class Change:
    """One field of an entry: its value before and after (None if there was none)."""

    name: str
    before: Any
    after: Any


def entries(actor: Actor) -> QuerySet[Entry]:
    return log.entries(actor)


def money_entries(actor: Actor) -> QuerySet[Entry]:
    return log.money_entries(actor)


def name_objects(found: Iterable[Entry]) -> None:
    """Give entries of packages the package's name in the reader's language; the log has the English one."""
    entries = [entry for entry in found if entry.target_type == "package" and entry.target_id.isdecimal()]
    if not entries:
        return
    language = get_language() or ""
    packages = Package.objects.filter(pk__in={entry.target_id for entry in entries})
    names = {str(package.pk): package.name(language) for package in packages}
    for entry in entries:
        entry.target_label = names.get(entry.target_id, entry.target_label)


def changes(entry: Entry) -> list[Change]:
    """Fields that differ, in the order of the entry, new ones last."""
    names = [*entry.before, *(name for name in entry.after if name not in entry.before)]
    found = [Change(name, entry.before.get(name), entry.after.get(name)) for name in names]
    return [change for change in found if (change.before or None) != (change.after or None)]


def organisation_names(found: Iterable[Entry]) -> dict[UUID, str]:
    """Names of the organisations that some entries speak of, in one query."""
    ids = {entry.organisation_id for entry in found if entry.organisation_id}
    return dict(Organisation.objects.filter(pk__in=ids).order_by().values_list("pk", "name"))
