"""What callers asked, counted in memory and added to the rows of their minute every few seconds.

A process that is killed loses what it has counted since its last write: up to `WRITE_EVERY_S`. What cannot be written
is kept for the next try.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection, transaction
from django_scopes import scopes_disabled

from apps.serving.latency import BUCKETS, bucket_of

WRITE_EVERY_S = 3.0
MINUTE_S = 60
MOST_WAITING = 100_000
UPSERT = """
INSERT INTO serving_usage AS old (organisation_id, service_id, key_id, minute, requests, errors, refused, times)
SELECT service.organisation_id, service.id, key.id, to_timestamp(%s), %s, %s, %s, %s::bigint[]
FROM serving_servicekey AS key JOIN serving_service AS service ON service.id = key.service_id WHERE key.id = %s
ON CONFLICT (key_id, minute) DO UPDATE SET
  requests = old.requests + excluded.requests,
  errors = old.errors + excluded.errors,
  refused = old.refused + excluded.refused,
  times = (
    SELECT array_agg(a + b ORDER BY place)
    FROM unnest(old.times, excluded.times) WITH ORDINALITY AS pairs(a, b, place)
  )
"""

USED = "UPDATE serving_servicekey SET last_used_at = GREATEST(last_used_at, to_timestamp(%s)) WHERE id = %s"


@dataclass(slots=True)
class Counts:
    requests: int = 0
    errors: int = 0
    refused: int = 0
    times: list[int] = field(default_factory=lambda: [0] * BUCKETS)

    def add(self, more: "Counts") -> None:
        self.requests += more.requests
        self.errors += more.errors
        self.refused += more.refused
        self.times = [a + b for a, b in zip(self.times, more.times, strict=True)]


Which = tuple[UUID, int]
"""A key, and the minute as seconds since 1970."""


@dataclass(slots=True)
class Counter:
    """Of one process. `clock`: seconds since 1970."""

    clock: Callable[[], float] = time.time
    _counts: dict[Which, Counts] = field(default_factory=dict)

    def answered(self, key_id: UUID, status: int, took_ms: float) -> None:
        """`status` 0: no answer came of it."""
        counts = self._of(key_id)
        counts.requests += 1
        counts.errors += status == 0 or status >= 500
        counts.times[bucket_of(took_ms)] += 1

    def refused(self, key_id: UUID) -> None:
        self._of(key_id).refused += 1

    def _of(self, key_id: UUID) -> Counts:
        which = (key_id, int(self.clock()) // MINUTE_S * MINUTE_S)
        return self._counts.setdefault(which, Counts())

    def take(self) -> Mapping[Which, Counts]:
        """What has been counted; nobody else writes it."""
        taken, self._counts = self._counts, {}
        return taken

    def give_back(self, taken: Mapping[Which, Counts]) -> None:
        """It could not be written."""
        for which, counts in taken.items():
            if len(self._counts) < MOST_WAITING:
                self._counts.setdefault(which, Counts()).add(counts)


def write(taken: Mapping[Which, Counts]) -> None:
    """In the order of their keys, so that two processes do not wait for each other in a circle."""
    with scopes_disabled(), transaction.atomic(), connection.cursor() as cursor:
        for (key_id, minute), each in sorted(taken.items(), key=lambda item: (item[0][0].hex, item[0][1])):
            cursor.execute(UPSERT, [minute, each.requests, each.errors, each.refused, each.times, str(key_id)])
        for key_id in sorted({key_id for key_id, _minute in taken}, key=lambda each: each.hex):
            newest = max(minute for key, minute in taken if key == key_id)
            cursor.execute(USED, [newest, str(key_id)])
