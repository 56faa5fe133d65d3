"""What waits and what is held, each row as one text: the same text means that nothing about it changed.

A pass looks at every row and reads anew only those whose text is another one. Texts are put together and compared where
that costs least, in Postgres and in dictionaries, so a long queue that hardly moves is cheap to look at.
"""

from typing import Any

from django.db import connection

from apps.workloads.choices import PLACED, Status

# A replica that is to be replaced waits for its turn to come back: its stay in the queue begins later.
# By id: all of a row that may change and that the scheduler cares about. Numbers and ids hold no bar.
Marks = dict[str, str]

_WAITING = """
    SELECT id::text, concat_ws(
        '|', extract(epoch FROM queued_at), priority, attempt_number, department_id,
        COALESCE(expected_s::text, '-'), COALESCE(longest_s::text, '-')
    )
    FROM workloads_workload WHERE status = %s AND queued_at <= statement_timestamp()
    ORDER BY queued_at, id
"""
_LIVE = """
    SELECT attempt.id::text, concat_ws(
        '|', attempt.workload_id, extract(epoch FROM attempt.placed_at),
        COALESCE(extract(epoch FROM attempt.started_at)::text, '-'),
        COALESCE(extract(epoch FROM attempt.checkpoint_at)::text, '-'),
        COALESCE(workload.longest_s::text, '-'),
        workload.status = %s,
        CASE WHEN asked.ended_at IS NULL THEN asked.for_workload_id END
    )
    FROM workloads_attempt attempt
    JOIN workloads_workload workload ON workload.id = attempt.workload_id
    JOIN clusters_node node ON node.id = attempt.node_id
    JOIN clusters_logicalcluster cluster ON cluster.id = node.cluster_id
    JOIN clusters_zone zone ON zone.id = cluster.zone_id
    LEFT JOIN workloads_preemption asked ON asked.attempt_id = attempt.id
    WHERE attempt.ended_at IS NULL AND workload.status = ANY(%s) AND zone.simulated = %s
    ORDER BY attempt.id
"""


def waiting_digests() -> Marks:
    """Of workloads that wait, of both worlds, in order of submission."""
    return _read(_WAITING, [Status.QUEUED.value])


def live_digests(simulated: bool) -> Marks:
    """Of attempts that hold a place in one world, in the order of their ids."""
    return _read(_LIVE, [Status.STOPPING.value, [status.value for status in sorted(PLACED)], simulated])


def _read(query: str, values: list[Any]) -> Marks:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return dict(cursor.fetchall())
