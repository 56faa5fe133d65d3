"""What the versions of models keep in the store, for billing's meter: one of `settings.STORED_ITEMS`."""

from collections.abc import Iterator

from django.db.models import Sum

from apps.billing.storage.services import StoredItem
from apps.modelhub.models import Model
from apps.storage.metering import gib


def models() -> Iterator[StoredItem]:
    """A model's versions are rounded up together, as those of a dataset. Call it in the platform's scope."""
    rows = Model.objects.annotate(mib=Sum("versions__reserved_mib"))
    columns = rows.values_list("pk", "organisation_id", "owner_id", "name", "mib")
    for pk, organisation_id, owner_id, name, mib in columns.iterator():
        yield StoredItem(pk, organisation_id, owner_id, name, gib(mib or 0))
