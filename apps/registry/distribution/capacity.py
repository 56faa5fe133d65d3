"""What an organisation keeps in the registry, and how much it may keep. Layers that images share count once."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection

_USED = """
SELECT coalesce(sum(size), 0) FROM (
    SELECT DISTINCT ON (digest) size FROM registry_manifestblob WHERE organisation_id = %s ORDER BY digest, size DESC
) AS blobs
"""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bytes."""

    used: int
    limit: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def capacity_of(organisation_id: UUID) -> Capacity:
    with connection.cursor() as cursor:
        cursor.execute(_USED, [organisation_id])
        (used,) = cursor.fetchone()
    return Capacity(int(used), settings.REGISTRY_ORGANISATION_BYTES)
