"""What the meter of billing is told of: every volume by its size, every dataset by what its versions take.

The same room that quotas count, so a thing in the bin is metered until it is purged. A dataset's versions are rounded
up together: twenty small versions are not twenty GiB.
"""

from collections.abc import Iterator

from django.db.models import Sum

from apps.billing.storage.services import Stored, meter_storage
from apps.storage.models import Dataset, Volume

MIB_PER_GIB = 1024


def meter() -> None:
    """Call in the platform's scope."""
    meter_storage([*_volumes(), *_datasets()])


def _volumes() -> Iterator[Stored]:
    columns = Volume.objects.values_list("pk", "organisation_id", "owner_id", "name", "size_mib")
    for pk, organisation_id, owner_id, name, size_mib in columns.iterator():
        yield Stored(pk, organisation_id, owner_id, name, gib(size_mib or 0))


def _datasets() -> Iterator[Stored]:
    rows = Dataset.objects.annotate(mib=Sum("versions__reserved_mib"))
    for pk, organisation_id, owner_id, name, mib in rows.values_list(
        "pk", "organisation_id", "owner_id", "name", "mib"
    ).iterator():
        yield Stored(pk, organisation_id, owner_id, name, gib(mib or 0))


def gib(mib: int) -> int:
    """Rounded up."""
    return -(-mib // MIB_PER_GIB)
