"""The platform's own processes: when each last worked, and which had to be replaced."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.models import ProcessHeartbeat, ProcessReplacement
from apps.common.permissions import Permission

# Proofs come every 2 to 5 s; after 18 s whoever watches a process replaces it.
STALE_AFTER = timedelta(seconds=12)
SHOWN_FOR = timedelta(days=30)
# Without one of each of these the platform does not work.
NEEDED = ("web", "gateway", "worker", "scheduler", "files", "beat")


@dataclass(frozen=True, slots=True)
class Process:
    """`beat_at` is None for one that is needed and of which nothing was ever heard."""

    kind: str
    instance: str = ""
    pid: int | None = None
    started_at: datetime | None = None
    beat_at: datetime | None = None
    silent: bool = True


def processes(actor: Actor) -> list[Process]:
    """Every process with a heartbeat, and each that is required but missing."""
    actor.require(Permission.PLATFORM_NODES_VIEW)
    return sorted(_processes(), key=lambda one: (one.kind not in NEEDED, one.kind, one.instance))


def _processes() -> Iterator[Process]:
    limit = db_now() - STALE_AFTER
    missing = set(NEEDED)
    for row in ProcessHeartbeat.objects.all():
        missing.discard(row.kind)
        yield Process(row.kind, row.instance, row.pid, row.started_at, row.beat_at, row.beat_at < limit)
    yield from map(Process, missing)


def replacements(actor: Actor) -> QuerySet[ProcessReplacement]:
    """Of the last month, newest first."""
    actor.require(Permission.PLATFORM_NODES_VIEW)
    return ProcessReplacement.objects.filter(at__gte=db_now() - SHOWN_FOR).order_by("-at", "-pk")
