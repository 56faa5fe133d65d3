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
INSERT INTO serving_usage AS old (
  organisation_id, service_id, key_id, minute, requests, errors, refused, times, tokens_in, tokens_out, untold
)
SELECT service.organisation_id, service.id, key.id, to_timestamp(%s), %s, %s, %s, %s::bigint[], %s, %s, %s
FROM serving_servicekey AS key
JOIN serving_service AS service ON service.id = %s AND service.organisation_id = key.organisation_id
WHERE key.id = %s
ON CONFLICT (key_id, service_id, minute) DO UPDATE SET
  requests = old.requests + excluded.requests,
  errors = old.errors + excluded.errors,
  refused = old.refused + excluded.refused,
  tokens_in = old.tokens_in + excluded.tokens_in,
  tokens_out = old.tokens_out + excluded.tokens_out,
  untold = old.untold + excluded.untold,
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
    tokens_in: int = 0
    tokens_out: int = 0
    untold: int = 0
    times: list[int] = field(default_factory=lambda: [0] * BUCKETS)

    def add(self, more: "Counts") -> None:
        self.requests += more.requests
        self.errors += more.errors
        self.refused += more.refused
        self.tokens_in += more.tokens_in
        self.tokens_out += more.tokens_out
        self.untold += more.untold
        self.times = [a + b for a, b in zip(self.times, more.times, strict=True)]


Which = tuple[UUID, UUID, int]
"""A key, a service, and the minute as seconds since 1970."""


@dataclass(slots=True)
class Counter:
    """Of one process. `clock`: seconds since 1970."""

    clock: Callable[[], float] = time.time
    _counts: dict[Which, Counts] = field(default_factory=dict)

    def answered(self, key_id: UUID, service_id: UUID, status: int, took_ms: float) -> None:
        """`status` 0: no answer came of it."""
        counts = self._of(key_id, service_id)
        counts.requests += 1
        counts.errors += status == 0 or status >= 500
        counts.times[bucket_of(took_ms)] += 1

    def refused(self, key_id: UUID, service_id: UUID) -> None:
        self._of(key_id, service_id).refused += 1

    def spent(self, key_id: UUID, service_id: UUID, tokens: tuple[int, int] | None) -> None:
        """Tokens in and out, as a good answer told them; None: it told none."""
        counts = self._of(key_id, service_id)
        if tokens is None:
            counts.untold += 1
        else:
            counts.tokens_in, counts.tokens_out = counts.tokens_in + tokens[0], counts.tokens_out + tokens[1]

    def _of(self, key_id: UUID, service_id: UUID) -> Counts:
        which = (key_id, service_id, int(self.clock()) // MINUTE_S * MINUTE_S)
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
        for (key_id, service_id, minute), each in sorted(taken.items(), key=_place):
            counted = (each.requests, each.errors, each.refused, each.times)
            tokens = (each.tokens_in, each.tokens_out, each.untold)
            cursor.execute(UPSERT, [minute, *counted, *tokens, str(service_id), str(key_id)])
        for key_id in sorted({which[0] for which in taken}, key=lambda each: each.hex):
            newest = max(minute for key, _service, minute in taken if key == key_id)
            cursor.execute(USED, [newest, str(key_id)])


def _place(item: tuple[Which, Counts]) -> tuple[str, str, int]:
    key_id, service_id, minute = item[0]
    return key_id.hex, service_id.hex, minute
