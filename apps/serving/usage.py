"""What a service was asked lately, and how long its answers took."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.serving.latency import percentile_ms, summed
from apps.serving.models import Service, Usage

HOUR = timedelta(hours=1)
KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Use:
    """Of a span of time. Times in ms; None while nothing was answered."""

    requests: int
    errors: int
    refused: int
    seconds: float
    p50: float | None
    p95: float | None
    p99: float | None

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds if self.seconds else 0.0

    @property
    def error_share(self) -> float:
        return self.errors / self.requests if self.requests else 0.0


NOTHING = Use(0, 0, 0, 0.0, None, None, None)


@dataclass(frozen=True, slots=True)
class MinuteOf:
    minute: datetime
    requests: int
    errors: int
    refused: int
    p50: float | None
    p95: float | None


def lately(service: Service, span: timedelta = HOUR) -> Use:
    """Of all keys together; the caller has checked that the actor may see the service."""
    rows = list(_rows(service, db_now() - span))
    return _use(rows, span.total_seconds())


def by_key(service: Service, span: timedelta = HOUR * 24) -> dict[UUID, Use]:
    rows: dict[UUID, list[Usage]] = {}
    for row in _rows(service, db_now() - span):
        rows.setdefault(row.key_id, []).append(row)
    return {key_id: _use(found, span.total_seconds()) for key_id, found in rows.items()}


def minutes(service: Service, span: timedelta = HOUR) -> list[MinuteOf]:
    """Those in which something was asked, oldest first."""
    rows: dict[datetime, list[Usage]] = {}
    for row in _rows(service, db_now() - span).order_by("minute"):
        rows.setdefault(row.minute, []).append(row)
    found = []
    for minute, several in rows.items():
        use = _use(several, 60.0)
        found.append(MinuteOf(minute, use.requests, use.errors, use.refused, use.p50, use.p95))
    return found


def _rows(service: Service, since: datetime) -> QuerySet[Usage]:
    return Usage.objects.filter(service=service, minute__gte=since)


def _use(rows: Sequence[Usage], seconds: float) -> Use:
    times = summed(row.times for row in rows)
    return Use(
        sum(row.requests for row in rows),
        sum(row.errors for row in rows),
        sum(row.refused for row in rows),
        seconds,
        percentile_ms(times, 0.5),
        percentile_ms(times, 0.95),
        percentile_ms(times, 0.99),
    )


@dataclass(frozen=True, slots=True)
class Tokens:
    """What keys of the organisation's own address asked. `untold`: good answers that said nothing of tokens."""

    requests: int = 0
    errors: int = 0
    refused: int = 0
    taken: int = 0
    made: int = 0
    untold: int = 0

    @classmethod
    def of(cls, rows: Iterable[Usage]) -> "Tokens":
        columns = ("requests", "errors", "refused", "tokens_in", "tokens_out", "untold")
        counted = list(rows)
        return cls(*(sum(getattr(row, name) for row in counted) for name in columns))


def at_address(actor: Actor, span: timedelta = HOUR * 24) -> tuple[dict[UUID, Tokens], dict[UUID, Tokens]]:
    """By key, and by service."""
    rows = Usage.objects.filter(
        organisation_id=actor.organisation(), minute__gte=db_now() - span, key__service__isnull=True
    )
    by_key: dict[UUID, list[Usage]] = {}
    by_service: dict[UUID, list[Usage]] = {}
    for row in rows:
        by_key.setdefault(row.key_id, []).append(row)
        by_service.setdefault(row.service_id, []).append(row)
    keys, services = ({which: Tokens.of(found) for which, found in rows.items()} for rows in (by_key, by_service))
    return keys, services


def forget_old() -> int:
    """Drop what is older than `KEPT`; how many rows."""
    count, _by_model = Usage.objects.filter(minute__lt=db_now() - KEPT).delete()
    return count
