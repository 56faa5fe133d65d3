"""Report storage to billing's meter: every volume by its size, every dataset by what its versions take.

It is the same space that quotas count, so what is in the bin is metered until it is purged. A dataset's versions are
rounded up together: twenty small versions are not twenty GiB.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.db.models import Sum
from django.utils.module_loading import import_string

from apps.billing.storage.services import StoredItem, meter_storage
from apps.storage.models import Dataset, Volume

MIB_PER_GIB = 1024
FindItems: TypeAlias = Callable[[], Iterable[StoredItem]]
"""What else keeps files in the store (`settings.STORED_ITEMS`), by the same measure."""


def meter() -> None:
    """Call in the platform's scope."""
    meter_storage(_all())


def _all() -> list[StoredItem]:
    items = [*_volumes(), *_datasets()]
    for path in settings.STORED_ITEMS:
        find: FindItems = import_string(path)
        items += find()
    return items


def _volumes() -> Iterator[StoredItem]:
    columns = Volume.objects.values_list("pk", "organisation_id", "owner_id", "name", "size_mib")
    for pk, organisation_id, owner_id, name, size_mib in columns.iterator():
        yield StoredItem(pk, organisation_id, owner_id, name, gib(size_mib or 0))


def _datasets() -> Iterator[StoredItem]:
    rows = Dataset.objects.annotate(mib=Sum("versions__reserved_mib"))
    for pk, organisation_id, owner_id, name, mib in rows.values_list(
        "pk", "organisation_id", "owner_id", "name", "mib"
    ).iterator():
        yield StoredItem(pk, organisation_id, owner_id, name, gib(mib or 0))


def gib(mib: int) -> int:
    """Rounded up."""
    return -(-mib // MIB_PER_GIB)


def stored_gib() -> dict[UUID, int]:
    """GiB that each organisation keeps, as they are metered. Call it in the platform's scope."""
    found: dict[UUID, int] = defaultdict(int)
    for item in _all():
        found[item.organisation_id] += item.gib
    return {organisation_id: size for organisation_id, size in found.items() if size}
