"""Who uses a workload and when: told by the ways in (gateway, SSH), read by whoever decides that it is idle.

Each process writes rows of its own, at most every few seconds. A process that dies stops its heartbeat, and its
connections no longer count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import connection

from apps.common.clock import db_now
from apps.workloads.choices import Source
from apps.workloads.models import Activity

HEARTBEAT_S = 20.0
ALIVE = timedelta(seconds=60)
KEPT = timedelta(days=2)

WRITE = """
INSERT INTO workloads_activity AS a (organisation_id, workload_id, source, process, connections,
                                     last_request_at, last_input_at, heartbeat_at)
SELECT w.organisation_id, w.id, %(source)s, %(process)s, seen.connections,
       CASE WHEN seen.requested THEN clock_timestamp() END, CASE WHEN seen.typed THEN clock_timestamp() END,
       clock_timestamp()
FROM unnest(%(ids)s::uuid[], %(connections)s::int[], %(requested)s::bool[], %(typed)s::bool[])
     AS seen (id, connections, requested, typed)
JOIN workloads_workload w ON w.id = seen.id
ON CONFLICT (workload_id, source, process) DO UPDATE SET
    connections = EXCLUDED.connections,
    last_request_at = COALESCE(EXCLUDED.last_request_at, a.last_request_at),
    last_input_at = COALESCE(EXCLUDED.last_input_at, a.last_input_at),
    heartbeat_at = EXCLUDED.heartbeat_at
"""


@dataclass(frozen=True, slots=True)
class Use:
    """How a workload is used. Connections by source are those open now; times are None for never.

    A request may come from a page that polls by itself; input is what a person or program sent: an unsafe request,
    a WebSocket message, bytes typed into a terminal.
    """

    connections: Mapping[Source, int] = field(default_factory=dict)
    last_request_at: datetime | None = None
    last_input_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What one process noticed of one workload since it last wrote, and its open connections."""

    connections: int = 0
    requested: bool = False
    typed: bool = False


def process_name() -> str:
    """A name for a process's rows that no other process has."""
    return uuid4().hex


def record_request(workload_id: UUID, source: Source, *, process: str, typed: bool = False) -> None:
    """Tell of one request. For many, collect them in a `Recorder`."""
    write_activity(source, process, {workload_id: Seen(_own_count(workload_id, source, process), True, typed)})


def record_connections(workload_id: UUID, source: Source, count: int, *, process: str) -> None:
    """Tell how many connections this process holds now; to be repeated within every minute while there are any."""
    write_activity(source, process, {workload_id: Seen(count)})


def latest_use(workload_ids: Iterable[UUID]) -> dict[UUID, Use]:
    """The use of each of these workloads over all processes; unused ones are there with an empty `Use`."""
    uses = {workload_id: Use() for workload_id in workload_ids}
    alive_since = db_now() - ALIVE
    for row in Activity.objects.filter(workload__in=list(uses)):
        uses[row.workload_id] = _plus(uses[row.workload_id], row, row.heartbeat_at >= alive_since)
    return uses


def write_activity(source: Source, process: str, noticed: Mapping[UUID, Seen]) -> None:
    """Write what was noticed of many workloads at once; unknown ones are left out."""
    if not noticed:
        return
    ids = sorted(noticed)  # in one order, so that two processes never wait for each other
    values = [noticed[workload_id] for workload_id in ids]
    with connection.cursor() as cursor:
        cursor.execute(
            WRITE,
            {
                "source": str(source),
                "process": process,
                "ids": [str(workload_id) for workload_id in ids],
                "connections": [value.connections for value in values],
                "requested": [value.requested for value in values],
                "typed": [value.typed for value in values],
            },
        )


def forget_old() -> int:
    """Remove rows of processes that are long gone; how many."""
    deleted, _by_model = Activity.objects.filter(heartbeat_at__lt=db_now() - KEPT).delete()
    return int(deleted)


def _own_count(workload_id: UUID, source: Source, process: str) -> int:
    own = Activity.objects.filter(workload=workload_id, source=source, process=process)
    return own.values_list("connections", flat=True).first() or 0


def _plus(use: Use, row: Activity, alive: bool) -> Use:
    source = Source(row.source)
    counts = dict(use.connections)
    if alive and row.connections:
        counts[source] = counts.get(source, 0) + row.connections
    return Use(counts, _later(use.last_request_at, row.last_request_at), _later(use.last_input_at, row.last_input_at))


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


class Recorder:
    """Collects what one process notices; `take` says what is worth writing now. Not for several threads."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.process = process_name()
        self._open: dict[UUID, int] = {}
        self._noticed: dict[UUID, Seen] = {}
        self._beaten_at = 0.0

    def requested(self, workload_id: UUID, *, typed: bool = False) -> None:
        before = self._noticed.get(workload_id, Seen())
        self._noticed[workload_id] = replace(before, requested=True, typed=before.typed or typed)

    def opened(self, workload_id: UUID) -> None:
        self._open[workload_id] = self._open.get(workload_id, 0) + 1
        self.requested(workload_id)

    def closed(self, workload_id: UUID) -> None:
        self._open[workload_id] -= 1
        if not self._open[workload_id]:
            del self._open[workload_id]
        self._noticed.setdefault(workload_id, Seen())

    def take(self, now: float) -> dict[UUID, Seen]:
        """What to write: news, and every HEARTBEAT_S all that is open. `now`: monotonic seconds."""
        noticed, self._noticed = self._noticed, {}
        if now - self._beaten_at >= HEARTBEAT_S:
            self._beaten_at = now
            noticed = {**dict.fromkeys(self._open, Seen()), **noticed}
        return {key: replace(value, connections=self._open.get(key, 0)) for key, value in noticed.items()}

    def give_back(self, noticed: Mapping[UUID, Seen]) -> None:
        """Writing failed: keep the news for the next time."""
        for workload_id, value in noticed.items():
            before = self._noticed.get(workload_id, Seen())
            self._noticed[workload_id] = Seen(
                requested=before.requested or value.requested, typed=before.typed or value.typed
            )
